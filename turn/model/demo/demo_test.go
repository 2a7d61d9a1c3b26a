package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/demo"
	"hitchpost/turn/tool"
	"hitchpost/turn/tool/files"
)

// conversation is a history with the demo model, and the real tools over a workspace.
type conversation struct {
	t     *testing.T
	req   model.Request
	tools map[string]tool.Tool
}

func newConversation(t *testing.T, contents map[string]string) *conversation {
	dir := t.TempDir()
	for name, text := range contents {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := files.Open([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	c := &conversation{t: t, req: model.Request{Model: demo.Model}, tools: map[string]tool.Tool{}}
	for _, tl := range w.Tools() {
		c.mount(tl)
	}
	return c
}

func (c *conversation) mount(tl tool.Tool) {
	c.tools[tl.Name] = tl
	c.req.Tools = append(c.req.Tools, model.Tool{Name: tl.Name, Description: tl.Description, Schema: tl.Schema})
}

// stream asks once and holds the deltas against the reply.
func stream(t *testing.T, req model.Request) model.Reply {
	t.Helper()
	var said strings.Builder
	reply, err := demo.New(0).Stream(t.Context(), req, func(d model.Delta) {
		if d.Text == "" || !utf8.ValidString(d.Text) {
			t.Errorf("a delta that is empty, or not whole runes: %+q", d.Text)
		}
		said.WriteString(d.Text)
	})
	if err != nil {
		t.Fatal(err)
	}
	if said.String() != reply.Text { // guarantee 2 of package model
		t.Errorf("the reply says %q, the deltas %q", reply.Text, said.String())
	}
	return reply
}

// ask says text and runs what is called until there is an answer. It returns the calls
// and the answer.
func (c *conversation) ask(text string) (calls []model.Call, answer string) {
	c.t.Helper()
	c.req.Messages = append(c.req.Messages, model.Message{Role: model.User, Text: text})
	for range 5 {
		reply := stream(c.t, c.req)
		c.req.Messages = append(c.req.Messages, model.Message{Role: model.Assistant, Text: reply.Text, Calls: reply.Calls})
		if len(reply.Calls) == 0 {
			return calls, reply.Text
		}
		calls = append(calls, reply.Calls...)
		for _, call := range reply.Calls {
			tl := c.tools[call.Name]
			res := tl.Run(c.t.Context(), tool.Call{ID: call.ID, Args: call.Args, Progress: func(string) {}})
			m := model.Message{Role: model.ToolRole, CallID: call.ID, Text: "Error: " + res.Error, IsError: res.Error != ""}
			if !m.IsError {
				json.Unmarshal(res.Content, &m.Text)
			}
			c.req.Messages = append(c.req.Messages, m)
		}
	}
	c.t.Fatal("it calls and calls")
	return nil, ""
}

// shown is calls as text.
func shown(calls []model.Call) string {
	var s []string
	for _, c := range calls {
		s = append(s, c.Name+string(c.Args))
	}
	return strings.Join(s, " ")
}

var workspace = map[string]string{
	"README.md":    "\n```sh\n# not a heading\n```\nText.\n\n# Hitchpost & <friends>\n\n## Second\n",
	"empty.md":     "",
	"plain.txt":    "no heading here\n#hashtag\n",
	"setext.md":    "Title\n=====\n",
	"src/a.go":     "package a // needle\n",
	"src/b.go":     "package b\n",
	"src/c/d.go":   "package d // needle, needle\n",
	"has space.md": "# Spaced\n",
}

func TestEachSentenceOfTheGrammarIsCalledAndAnsweredFromTheResult(t *testing.T) {
	for _, c := range []struct{ say, calls, answer string }{
		{"read README.md and tell me the first heading", `Read{"file_path":"README.md"}`, "The first heading of README.md is: Hitchpost & <friends>"},
		{"Please read the file README.md, and tell me its first heading.", `Read{"file_path":"README.md"}`, "The first heading of README.md is: Hitchpost & <friends>"},
		{"Could you read setext.md and tell me the heading?", `Read{"file_path":"setext.md"}`, "The first heading of setext.md is: Title"},
		{"read plain.txt and tell me the first heading", `Read{"file_path":"plain.txt"}`, "There is no heading in what came back of plain.txt."},
		{"read plain.txt and count the lines", `Read{"file_path":"plain.txt"}`, "plain.txt came back with 2 lines."},
		{"read plain.txt", `Read{"file_path":"plain.txt"}`, "plain.txt came back with 2 lines.\n\n    no heading here\n    #hashtag"},
		{"READ `has space.md` and tell me the heading", `Read{"file_path":"has space.md"}`, "The first heading of has space.md is: Spaced"},
		{"read empty.md", `Read{"file_path":"empty.md"}`, "empty.md came back with 0 lines.\n\nThe tool adds: (the file is empty)"},
		{"list src/**/*.go", `Glob{"pattern":"src/**/*.go"}`, "3 files match src/**/*.go."},
		{"list setext.*", `Glob{"pattern":"setext.*"}`, "1 file matches setext.*."},
		{"list files matching *.rb", `Glob{"pattern":"*.rb"}`, "0 files match *.rb."},
		{"list", `Glob{"pattern":"**/*"}`, "8 files match **/*."},
		{"search needle in src", `Grep{"output_mode":"content","path":"src","pattern":"needle"}`, "The search for needle found 2 lines."},
		{`grep "package [ab]" in src`, `Grep{"output_mode":"content","path":"src","pattern":"package [ab]"}`, "The search for package [ab] found 2 lines."},
		{"search for nowhere", `Grep{"output_mode":"content","pattern":"nowhere"}`, "The search for nowhere found 0 lines."},
		{"both read README.md and list *.md", `Read{"file_path":"README.md"} Glob{"pattern":"*.md"}`, "README.md came back with 9 lines."},
	} {
		t.Run(c.say, func(t *testing.T) {
			calls, answer := newConversation(t, workspace).ask(c.say)
			if shown(calls) != c.calls {
				t.Errorf("calls %s, want %s", shown(calls), c.calls)
			}
			if !strings.HasPrefix(answer, c.answer) {
				t.Errorf("answer %q, want %q", answer, c.answer)
			}
		})
	}
}

func TestBothMakesTwoCallsInOneReplyAndAnswersBoth(t *testing.T) {
	c := newConversation(t, workspace)
	c.req.Messages = []model.Message{{Role: model.User, Text: "both search needle in src and read setext.md and tell me the heading"}}
	reply := stream(t, c.req)
	if len(reply.Calls) != 2 || reply.Calls[0].ID == reply.Calls[1].ID || reply.Text != "" || reply.Stop != "tool_calls" {
		t.Fatalf("%+v", reply)
	}
	c.req.Messages = nil
	_, answer := c.ask("both search needle in src and read setext.md and tell me the heading")
	if !strings.Contains(answer, "found 2 lines") || !strings.HasSuffix(answer, "The first heading of setext.md is: Title") {
		t.Errorf("answer %q", answer)
	}
}

// guarantee 3
func TestAnErrorIsToldAsItIs(t *testing.T) {
	calls, answer := newConversation(t, workspace).ask("read nothing.md and tell me the first heading")
	if len(calls) != 1 || !strings.HasPrefix(answer, "Read did not work: ") || strings.Contains(answer, "Error: ") || !strings.Contains(answer, "nothing.md") {
		t.Errorf("answer %q", answer)
	}
}

// guarantee 2
func TestAToolThatIsNotMountedIsSaidToBeMissing(t *testing.T) {
	c := newConversation(t, nil)
	calls, answer := c.ask("run ls")
	if len(calls) != 0 || answer != "I would call Bash for that, but no tool of that name is mounted here. Mounted tools: Read, Glob, Grep, Write, Edit." {
		t.Errorf("%s %q", shown(calls), answer)
	}
	c.req.Tools = nil
	calls, answer = c.ask("both read a and list b")
	if len(calls) != 0 || !strings.HasSuffix(answer, "No tool is mounted.") {
		t.Errorf("%s %q", shown(calls), answer)
	}
}

func TestFilesAreChangedByTheRealTools(t *testing.T) {
	c := newConversation(t, map[string]string{"notes.md": "a horse in the stable\n"})
	for _, step := range []struct{ say, call, answer string }{
		{"replace horse in with mule in in notes.md", `Edit{"file_path":"notes.md","new_string":"mule in","old_string":"horse in"}`, "notes.md is changed."},
		{`write "two words" to more.txt`, `Write{"content":"two words\n","file_path":"more.txt"}`, "more.txt is changed."},
		{"both search mule and read more.txt", `Grep{"output_mode":"content","pattern":"mule"} Read{"file_path":"more.txt"}`, "two words"},
	} {
		calls, answer := c.ask(step.say)
		if shown(calls) != step.call || !strings.Contains(answer, step.answer) {
			t.Errorf("%s: %s %q", step.say, shown(calls), answer)
		}
	}
	if w, ok := c.tools["Task"]; ok {
		t.Fatalf("a task tool: %v", w)
	}
	if _, answer := c.ask("delegate read notes.md"); !strings.Contains(answer, "call Task") {
		t.Errorf("without subagents: %q", answer)
	}
}

func TestRunFetchAndPlanCallTheirTools(t *testing.T) {
	says := func(name, text string) tool.Tool {
		return tool.Tool{Name: name, Schema: json.RawMessage(`{}`), Run: func(context.Context, tool.Call) tool.Result { return tool.Text(text) }}
	}
	for _, c := range []struct{ say, calls, answer string }{
		{"run go test ./... && echo \"a b\"", `Bash{"command":"go test ./... && echo \"a b\""}`, "The command printed 2 lines.\n\n    one\n    two"},
		{"run `ls -l`", `Bash{"command":"ls -l"}`, "The command printed 2 lines."},
		{"fetch https://example.com/a?b=1.", `WebFetch{"url":"https://example.com/a?b=1"}`, "The page https://example.com/a?b=1 came back with 3 words."},
		{"fetch example.com", `WebFetch{"url":"https://example.com"}`, "The page https://example.com came back with 3 words."},
		{"plan: look around, write it, test it.", `TodoWrite{"todos":[{"content":"look around","status":"pending"},{"content":"write it","status":"pending"},{"content":"test it","status":"pending"}]}`, "The plan is written down, with 3 steps."},
		{"plan:\n- first\n- second\n", `TodoWrite{"todos":[{"content":"first","status":"pending"},{"content":"second","status":"pending"}]}`, "The plan is written down, with 2 steps."},
		{"plan one, really; two", `TodoWrite{"todos":[{"content":"one, really","status":"pending"},{"content":"two","status":"pending"}]}`, "The plan is written down, with 2 steps."},
		{"both run echo this and that and fetch example.com", `Bash{"command":"echo this and that"} WebFetch{"url":"https://example.com"}`, "The command printed 2 lines."},
	} {
		t.Run(c.say, func(t *testing.T) {
			conv := newConversation(t, nil)
			conv.mount(says("Bash", "one\ntwo\n"))
			conv.mount(says("WebFetch", "three words here"))
			conv.mount(says("TodoWrite", "ok"))
			calls, answer := conv.ask(c.say)
			if shown(calls) != c.calls || !strings.HasPrefix(answer, c.answer) {
				t.Errorf("%s %q", shown(calls), answer)
			}
		})
	}
}

func TestArgumentsFitWhatTheToolsSchemaKnows(t *testing.T) {
	req := model.Request{Model: demo.Model, Tools: []model.Tool{
		{Name: "Grep", Schema: json.RawMessage(`{"properties":{"pattern":{}}}`)},
		{Name: "TodoWrite", Schema: json.RawMessage(`{"properties":{"todos":{"items":{"properties":{"activeForm":{}}}}}}`)},
		{Name: "WebFetch", Schema: json.RawMessage(`{"properties":{"url":{},"prompt":{}}}`)},
	}}
	for say, want := range map[string]string{
		"search x":  `Grep{"pattern":"x"}`,
		"plan a":    `TodoWrite{"todos":[{"activeForm":"a","content":"a","status":"pending"}]}`,
		"fetch a.b": `WebFetch{"prompt":"Return the page as it is.","url":"https://a.b"}`,
	} {
		req.Messages = []model.Message{{Role: model.User, Text: say}}
		if got := shown(stream(t, req).Calls); got != want {
			t.Errorf("%s: %s", say, got)
		}
	}
}

// guarantee 4
func TestWithoutAWordOfTheGrammarItSaysWhatItIs(t *testing.T) {
	for _, say := range []string{"", "Hello!", "What is the meaning of life?", "read", "search", "run", "fetch", "plan", "readme", "both"} {
		c := newConversation(t, nil)
		calls, answer := c.ask(say)
		if len(calls) != 0 || say != "both" && !strings.HasPrefix(answer, "demo/guide is not intelligent.") {
			t.Errorf("%q: %s %q", say, shown(calls), answer)
		}
	}
	if reply := stream(t, model.Request{Model: demo.Model, System: "be"}); !strings.Contains(reply.Text, "not intelligent") {
		t.Errorf("without a message: %q", reply.Text)
	}
}

func TestThinkStreamsThatManyChunks(t *testing.T) {
	req := model.Request{Model: demo.Model, Messages: []model.Message{{Role: model.User, Text: "think 250"}}}
	n := 0
	reply, err := demo.New(0).Stream(t.Context(), req, func(model.Delta) { n++ })
	if err != nil || n != 250 || !strings.HasSuffix(reply.Text, "Thought 250 of 250. ") {
		t.Errorf("%d chunks, %v", n, err)
	}
	for _, say := range []string{"think", "think 0", "think -1", "think 100001", "think hard", "think 99999999999999999999"} {
		req.Messages[0].Text = say
		if reply := stream(t, req); !strings.HasPrefix(reply.Text, "think takes a number from 1 to 100000") {
			t.Errorf("%s: %.80q", say, reply.Text)
		}
	}
}

func TestTheNewestUserMessageCountsAndAnAnswerIsGivenOnce(t *testing.T) {
	c := newConversation(t, workspace)
	c.ask("read README.md and tell me the first heading")
	calls, answer := c.ask("list *.md")
	if shown(calls) != `Glob{"pattern":"*.md"}` || !strings.HasPrefix(answer, "4 files match") {
		t.Errorf("%s %q", shown(calls), answer)
	}
	if calls[0].ID == "guide_1" {
		t.Error("the second call has the id of the first")
	}
}

func TestASummaryCountsAndQuotes(t *testing.T) {
	c := newConversation(t, workspace)
	c.ask("read README.md")
	c.ask("hello")
	_, answer := c.ask("Please summarise the conversation so far.")
	want := "A digest by demo/guide, which counts and quotes and understands nothing: 2 user messages and 1 tool result came before.\n\n    read README.md\n    hello"
	if answer != want {
		t.Errorf("%q", answer)
	}
}

func TestUsageCountsWordsAndNoCost(t *testing.T) {
	req := model.Request{Model: demo.Model, System: "two words", Messages: []model.Message{{Role: model.User, Text: "think 3"}}}
	u := stream(t, req).Usage
	if *u.PromptTokens != 4 || *u.CompletionTokens != 12 || u.Cost != nil {
		t.Errorf("%d, %d, %v", *u.PromptTokens, *u.CompletionTokens, u.Cost)
	}
}

// guarantee 1
func TestTheSameRequestGetsTheSameReply(t *testing.T) {
	c := newConversation(t, workspace)
	c.ask("both read README.md and list *.md")
	for n := range c.req.Messages { // the calls, and the answer
		req := c.req
		req.Messages = c.req.Messages[:n+1]
		if diff := cmp.Diff(stream(t, req), stream(t, req)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAnotherModelNameIsAConfigError(t *testing.T) {
	_, err := demo.New(0).Stream(t.Context(), model.Request{Model: "gpt"}, func(model.Delta) {})
	var e *model.Error
	if !errors.As(err, &e) || e.Code != event.CodeConfig || !strings.Contains(e.Message, `not "gpt"`) {
		t.Errorf("%v", err)
	}
}

func TestChunksComeWithAPauseAndACancelEndsThemAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		req := model.Request{Model: demo.Model, Messages: []model.Message{{Role: model.User, Text: "think 10"}}}
		stopped := errors.New("stopped by the user")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second/2, func() { cancel(stopped) })
		start, n := time.Now(), 0
		_, err := demo.New(time.Second).Stream(ctx, req, func(model.Delta) { n++ })
		if err != stopped || n != 3 || time.Since(start) != 5*time.Second/2 {
			t.Errorf("%v after %d chunks and %v", err, n, time.Since(start))
		}
		start = time.Now()
		if _, err := demo.New(time.Second).Stream(t.Context(), req, func(model.Delta) {}); err != nil || time.Since(start) != 9*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// FuzzReply holds guarantees 1 and 2 for any message and any result.
func FuzzReply(f *testing.F) {
	f.Add("both read a and list b", "     1→# x", true)
	f.Add("think 3", "", false)
	f.Add("search \" in  in ", "[", false)
	f.Add("plan: ,;\n- ", "(note)", false)
	f.Add("fetch \xff", "\x00\n\n", true)
	f.Fuzz(func(t *testing.T, say, result string, failed bool) {
		req := model.Request{Model: demo.Model, Tools: []model.Tool{{Name: "Read"}, {Name: "Glob"}, {Name: "Grep"}},
			Messages: []model.Message{{Role: model.User, Text: say}}}
		reply := stream(t, req)
		if reply.Text == "" && len(reply.Calls) == 0 {
			t.Error("it says nothing")
		}
		answer := model.Message{Role: model.Assistant, Calls: reply.Calls}
		req.Messages = append(req.Messages, answer)
		for _, c := range reply.Calls {
			var args map[string]any
			if err := json.Unmarshal(c.Args, &args); err != nil || args == nil {
				t.Errorf("arguments %s", c.Args)
			}
			if c.Name != "Read" && c.Name != "Glob" && c.Name != "Grep" {
				t.Errorf("%s is not offered", c.Name)
			}
			req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, CallID: c.ID, Text: result, IsError: failed})
		}
		if len(reply.Calls) > 0 {
			one, other := stream(t, req), stream(t, req)
			if one.Text == "" || one.Text != other.Text || len(one.Calls) > 0 {
				t.Errorf("%q, %q", one.Text, other.Text)
			}
		}
	})
}
