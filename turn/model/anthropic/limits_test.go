package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"hitchpost/turn/event"
)

// guarantee 5 of package model
func TestAnEndlessAnswerIsANamedErrorAndMemoryStaysBounded(t *testing.T) {
	big := strings.Repeat("x", 4000)
	tool := start0 + begins(0, `"type":"tool_use","id":"a","name":"Read","input":{}`)
	for name, c := range map[string]struct{ head, more, want string }{
		"text":      {start0, word(big), "longer than 8 MiB"},
		"thinking":  {start0, goesOn(`"type":"thinking_delta","thinking":"` + big + `"`), "longer than 8 MiB"},
		"signature": {start0, goesOn(`"type":"signature_delta","signature":"` + big + `"`), "longer than 8 MiB"},
		"input":     {tool, goesOn(`"type":"input_json_delta","partial_json":"` + big + `"`), "longer than 8 MiB"},
		"redacted":  {start0, begins(0, `"type":"redacted_thinking","data":"`+strings.Repeat(big, 5)+`"`), "longer than 8 MiB"},
		"blocks":    {start0, begins(0, `"type":"text","text":""`), "more than 1024 content blocks"},
		"a line":    {"data: ", "x", "longer than 8 MiB"},
		"one JSON":  {`{"content":"`, "x", "longer than 8 MiB"},
		"pings":     {start0, ping, "100000 events in a row"},
		"stops":     {start0, "data: {\"type\":\"content_block_stop\"}\n\n", "100000 events in a row"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			p.Server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				io.WriteString(w, c.head)
				some := strings.Repeat(c.more, 1+64<<10/len(c.more))
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, some); err != nil {
						return
					}
				}
			})
			client := client(t, p, nil)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, _, err := ask(context.Background(), client, nil)
			runtime.GC()
			runtime.ReadMemStats(&after)
			isFailure(t, err, event.CodeProvider, false, c.want)
			if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 4<<20 {
				t.Errorf("%d bytes are kept afterwards", kept)
			}
		})
	}
}

// A18 and A23, through the whole client
func TestA23HugePiecesWithinTheCapPassAndDeepInputsAreTold(t *testing.T) {
	for _, c := range []struct{ args, why string }{
		{`{"a":"` + strings.Repeat("x", 65_537) + `"}`, ""},
		{`{"a":"` + strings.Repeat("x", 5<<20) + `"}`, ""},
		{`{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`, "deeper than 256 levels"},
	} {
		text, _ := json.Marshal(c.args)
		body := start0 + begins(0, `"type":"tool_use","id":"a","name":"Read","input":{}`) + goesOn(fmt.Sprintf(`"type":"input_json_delta","partial_json":%s`, text)) + finish
		p := newProvider(t, scripted{Status: 200, Body: body})
		reply, _, err := ask(context.Background(), client(t, p, nil), nil)
		if err != nil || len(reply.Calls) != 1 {
			t.Fatalf("%.40s: %v", c.args, err)
		}
		call := reply.Calls[0]
		if c.why == "" && (call.ArgsError != "" || string(call.Args) != c.args) {
			t.Errorf("%.40s: %s", c.args, call.ArgsError)
		}
		if c.why != "" && (!strings.Contains(call.ArgsError, c.why) || string(call.Args) != "{}") {
			t.Errorf("%.40s: %s, %.40s", c.args, call.ArgsError, call.Args)
		}
	}
}
