package mcp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// stub is an MCP server on standard input and output that misbehaves on command. It
// writes its messages by hand: no library would send what some of them are.
type stub struct {
	mu    sync.Mutex // of what follows, and of standard output
	tools map[string]string
	fail  bool // the next listing
	notes *os.File
}

const stubEnv = "HITCHPOST_TEST_STUB" // set: the test binary is the stub

func runStub() {
	s := &stub{tools: map[string]string{}}
	for _, name := range []string{"echo", "raw", "sleep", "await", "exit", "progress", "change", "noise", "huge", "ask", "stray",
		"child", "env", "stderr", "refuse", "deaf", "pid", "bad name", "half"} {
		s.tools[name] = fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name)
	}
	s.tools["reads"] = `{"name":"reads","description":"Reads.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"annotations":{"readOnlyHint":true}}`
	s.tools["again"] = `{"name":"again","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}}`
	if path := os.Getenv("STUB_NOTES"); path != "" {
		s.notes, _ = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	if extra := os.Getenv("STUB_TOOLS"); extra != "" {
		s.tools = map[string]string{"": extra}
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		s.handle(line)
	}
}

type stubRequest struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		Version   string `json:"protocolVersion"`
		Arguments json.RawMessage
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
		RequestID json.RawMessage `json:"requestId"`
	}
}

func (s *stub) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Println(text)
}

func (s *stub) note(format string, args ...any) {
	if s.notes != nil {
		fmt.Fprintf(s.notes, format+"\n", args...)
	}
}

func (s *stub) answer(id json.RawMessage, result string) {
	s.say(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`)
}

func (s *stub) text(id json.RawMessage, text string) {
	quoted, _ := json.Marshal(text)
	s.answer(id, `{"content":[{"type":"text","text":`+string(quoted)+`}]}`)
}

func (s *stub) error(id json.RawMessage, code int, message string) {
	s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message))
}

func (s *stub) handle(line []byte) {
	var r stubRequest
	if json.Unmarshal(line, &r) != nil {
		return
	}
	switch r.Method {
	case "initialize":
		s.answer(r.ID, `{"protocolVersion":"`+r.Params.Version+`","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"stub","version":"1"}}`)
	case "tools/list":
		s.list(r.ID)
	case "tools/call":
		s.note("call %s", r.Params.Name)
		s.call(r, line)
	case "notifications/cancelled":
		s.note("cancelled %s", r.Params.RequestID)
	default:
		if r.ID != nil {
			s.error(r.ID, -32601, "method not found")
		}
	}
}

func (s *stub) list(id json.RawMessage) {
	s.mu.Lock()
	var tools []string
	for _, t := range s.tools {
		tools = append(tools, t)
	}
	fail := s.fail
	s.fail = false
	s.mu.Unlock()
	if fail {
		s.error(id, -32603, "no list today")
		return
	}
	s.answer(id, `{"tools":[`+strings.Join(tools, ",")+`]`+os.Getenv("STUB_CURSOR")+`}`)
}

type stubArgs struct {
	Result string
	MS     int
	Code   int
	Text   string
	Add    string
	Remove string
	Fail   bool
	Bytes  int
}

func (s *stub) call(r stubRequest, line []byte) {
	var a stubArgs
	_ = json.Unmarshal(r.Params.Arguments, &a)
	switch r.Params.Name {
	case "echo":
		s.text(r.ID, string(line))
	case "raw":
		s.answer(r.ID, a.Result)
	case "sleep":
		go func() {
			time.Sleep(time.Duration(a.MS) * time.Millisecond)
			s.text(r.ID, a.Text)
		}()
	case "await": // until there is a file of that name, which is the answer
		go func() {
			name := filepath.Base(a.Text)
			s.note("awaits %s", name)
			for _, err := os.Stat(a.Text); err != nil; _, err = os.Stat(a.Text) {
				time.Sleep(5 * time.Millisecond)
			}
			s.text(r.ID, name)
			s.note("answered %s", name)
		}()
	case "exit":
		os.Exit(a.Code)
	case "half":
		fmt.Print(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":{"content":[`)
		os.Exit(a.Code)
	case "progress":
		for i := range 3 {
			s.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":3,"message":"part %d"}}`, r.Params.Meta.Token, i+1, i+1))
		}
		s.text(r.ID, "done")
	case "change":
		s.change(a)
		s.text(r.ID, "changed")
	case "child":
		s.text(r.ID, fmt.Sprint(sleeper()))
	case "env":
		s.text(r.ID, strings.Join(os.Environ(), "\n"))
	case "stderr":
		fmt.Fprint(os.Stderr, a.Text)
		s.text(r.ID, "said")
	case "pid":
		s.text(r.ID, fmt.Sprint(os.Getpid()))
	case "refuse":
		s.error(r.ID, a.Code, a.Text)
	case "gone":
		s.error(r.ID, -32602, "unknown tool")
	default:
		s.misbehave(r, a)
	}
}

func (s *stub) misbehave(r stubRequest, a stubArgs) {
	switch r.Params.Name {
	case "noise":
		s.say("Listening…\n\n{\"level\":\"info\"}\n{not json\n[1,2]\n\"x\"\x00\xff")
		s.say(`[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}},{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":{"content":[{"type":"text","text":"through"}]}}]`)
	case "huge":
		s.text(r.ID, strings.Repeat("x", a.Bytes))
	case "ask": // and read no answer
		for i := 0; ; i++ {
			s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"ping"}`, i))
		}
	case "stray":
		s.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
		s.say(`{"jsonrpc":"2.0","result":{}}`)
		s.say(`{"jsonrpc":"2.0","id":4711,"result":{}}`)
		s.say(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
		s.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", 1<<20) + `"}}`)
		s.text(r.ID, "still here")
	case "deaf":
		s.text(r.ID, "from now on")
		select {}
	default:
		s.text(r.ID, r.Params.Name)
	}
}

func (s *stub) change(a stubArgs) {
	s.mu.Lock()
	if a.Add != "" {
		s.tools[a.Add] = fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, a.Add)
	}
	delete(s.tools, a.Remove)
	s.fail = a.Fail
	s.mu.Unlock()
	s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
}

// sleeper starts a child of the stub's that outlives it, in the stub's group.
func sleeper() int {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		return 0
	}
	return cmd.Process.Pid
}
