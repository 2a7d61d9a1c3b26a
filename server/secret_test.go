package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestASecretOfTheEnvironmentAFileAndTheStreamIsWrittenNowhere: the keys of two providers,
// said by a person, split at every position by the model, in a call's arguments and in a
// command's output. Not in an event, nor the log file, nor the server's log, nor a request.
func TestASecretOfTheEnvironmentAFileAndTheStreamIsWrittenNowhere(t *testing.T) {
	const fromEnv, fromFile = "sk-environment-0123456789", "sk-of-a-file-abcdefghij"
	var mu sync.Mutex
	var requests strings.Builder
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		requests.Write(body)
		if strings.Count(string(body), `"role":"assistant"`) > 0 {
			for _, chunk := range completion("done") {
				fmt.Fprintf(w, "data: %s\n\n", chunk)
			}
			return
		}
		for _, key := range []string{fromEnv, fromFile} {
			for i := range key {
				for _, piece := range []string{key[:i], key[i:] + " "} {
					fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", piece)
				}
			}
		}
		// The command puts the key together, so that its arguments do not hold it.
		command := fmt.Sprintf("a=%s; b=%s; echo $a$b; for i in 1 2 3; do printf %%s $a; sleep 0.2; printf '%%s\\n' $b; done", fromEnv[:9], fromEnv[9:])
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":%q}},"+
			"{\"index\":1,\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"Read\",\"arguments\":%q}}]}}]}\n\n",
			fmt.Sprintf(`{"command":%q}`, command), fmt.Sprintf(`{"file_path":%q}`, "x-"+fromFile))
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n")
	}))
	defer provider.Close()
	p := newPlace(t, fmt.Sprintf(`
[approvals]
enabled = false
[agents.default]
policy = ["*"]
[agents.default.models]
main = "one/any"
[providers.one]
api = "openai"
base_url = %[1]q
api_key = "env:E2E_KEY"
[providers.two]
api = "openai"
base_url = %[1]q
api_key = "file:key.txt"
[tools]
sandbox = "none"
`, provider.URL))
	if err := os.WriteFile(filepath.Join(p.dir, "key.txt"), []byte(fromFile+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = []string{"E2E_KEY=" + fromEnv}
	s := p.serve()
	out, errs, code := p.run("send", "main", "my keys are "+fromEnv+" and "+fromFile)
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	if log := types(p.log("main")); strings.Count(log, "tool/result") != 2 {
		t.Fatalf("log: %s", log)
	}
	s.term()
	places := map[string]string{"what send printed": out + errs, "the server's log": s.log.String(), "the requests": requests.String()}
	for _, suffix := range []string{"", "-wal"} {
		if b, err := os.ReadFile(filepath.Join(p.dir, "hitchpost.db"+suffix)); err == nil {
			places["the file hitchpost.db"+suffix] = string(b)
		}
	}
	if !strings.Contains(places["the file hitchpost.db"], "[masked secret]") {
		t.Error("nothing was masked: the test shows nothing")
	}
	for place, text := range places {
		for _, key := range []string{fromEnv, fromFile} {
			if strings.Contains(text, key) {
				t.Errorf("%s holds %s", place, key)
			}
		}
	}
}
