package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheFirstRequestOffersTheToolsOfAnMCPServer: it waits until the server, a real one
// from npm, has listed them; a call of one is answered by that server.
func TestTheFirstRequestOffersTheToolsOfAnMCPServer(t *testing.T) {
	main, err := filepath.Abs("../turn/tool/mcp/testdata/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(main); err != nil {
		t.Skip("the npm servers are not installed: npm ci --prefix turn/tool/mcp/testdata/npm")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	var offered string
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Messages []chatMessage
			Tools    json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		reply := []string{
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"mcp__every__echo","arguments":"{\"message\":\"hay\"}"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		}
		if len(request.Messages) == 2 { // system and user: the first request
			offered = string(request.Tools)
		} else {
			reply = completion("done")
		}
		for _, chunk := range reply {
			w.Write([]byte("data: " + chunk + "\n\n"))
		}
	}))
	defer model.Close()
	command, err := json.Marshal([]string{node, main, "stdio"})
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, `
[agents.default]
policy = ["mcp__every__*"]
[agents.default.models]
main = "scripted/any"
[providers.scripted]
api = "openai"
base_url = "`+model.URL+`"
[mcp.every]
command = `+string(command)+`
approval = "never"
`)
	p.serve()
	if out, errs, code := p.run("send", "main", "echo hay"); code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	if !strings.Contains(offered, `"mcp__every__echo"`) {
		t.Errorf("the first request offers %s", offered)
	}
	answered := false
	for _, l := range p.log("main") {
		answered = answered || strings.Contains(l.raw, `"tool/result"`) && strings.Contains(l.raw, "hay") && l.Payload.Error == nil
	}
	if !answered {
		t.Errorf("no echo in the log: %s", types(p.log("main")))
	}
}
