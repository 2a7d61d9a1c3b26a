package cli

import (
	"strings"
	"testing"
)

// Whoever decides on a call has seen all of it.
func TestChatShowsTheWholeCallThatItAsksAbout(t *testing.T) {
	padding := strings.Repeat("true && ", 100)
	url := socket(t, func(p *peer) {
		p.hello("waiting_approval", `{"call_id":"c0","name":"Bash","args":{"command":"`+padding+`rm -r notes"}}`)
		p.subscribed()
		p.frame("deny")
		p.event("approval/resolved", `{"call_id":"c0","verdict":"denied"}`)
		p.event("turn/end", `{"status":"completed"}`)
	})
	code, stdout, stderr := call(t, strings.NewReader("n\n"), "chat", "main", "--url", url, "--token", "t")
	if code != 0 || !strings.Contains(stdout, `{"command":"`+padding+`rm -r notes"`) {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
