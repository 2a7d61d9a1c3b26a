package project_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hitchpost/server/project"
	"hitchpost/server/protocol"
	"hitchpost/turn/event"
)

var update = flag.Bool("update", false, "rewrite testdata/fixtures")

const fixtures = "testdata/fixtures"

// TestTheFixturesAreWhatIsSentToday holds the files that the TypeScript tests parse: one
// a frame (server.*, client.*), one a kind of entry (entry.*), and what a later version
// may send (unknown.*).
func TestTheFixturesAreWhatIsSentToday(t *testing.T) {
	want := map[string]string{}
	for name, line := range allFixtures(t) {
		want[name+".json"] = line + "\n"
	}
	if *update {
		if err := os.RemoveAll(fixtures); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(fixtures, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, line := range want {
			if err := os.WriteFile(filepath.Join(fixtures, name), []byte(line), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := map[string]string{}
	files, err := filepath.Glob(fixtures + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(file)] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fixtures are stale, run go test ./server/project -run Fixtures -update (-sent +files):\n%s", diff)
	}
}

func TestEveryFrameTypeHasAFixture(t *testing.T) {
	source, err := os.ReadFile("../protocol/type.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for name := range allFixtures(t) {
		all = append(all, name+".")
	}
	found := regexp.MustCompile(`(Server|Client)Type = "(.+)"`).FindAllStringSubmatch(string(source), -1)
	if len(found) < 26 {
		t.Fatalf("only %d frame types found", len(found))
	}
	for _, m := range found {
		prefix := strings.ToLower(m[1]) + "." + m[2] + "."
		if !slices.ContainsFunc(all, func(name string) bool { return strings.HasPrefix(name, prefix) }) {
			t.Errorf("no fixture %s*.json", prefix)
		}
	}
}

func allFixtures(t *testing.T) map[string]string {
	all := map[string]string{}
	put := func(name string, line []byte) {
		if all[name] != "" || !json.Valid(line) {
			t.Fatalf("fixture %s twice, or invalid: %s", name, line)
		}
		all[name] = string(line)
	}
	fromEvents(put)
	fromMoments(put)
	fromClients(t, put)
	fromLaterVersions(put)
	return all
}

// fromEvents plays a session and keeps the first frame that each type of event makes, and
// every entry.
func fromEvents(put func(string, []byte)) {
	p, seen := project.New(session), map[string]int{}
	for _, ev := range played().log() {
		origin := strings.ReplaceAll(ev.Type, "/", "_")
		for _, f := range p.Next(ev) {
			name := "server." + string(f.Type) + "." + origin
			if f.Type == protocol.TypeRunEntry {
				_, line, _ := bytes.Cut(f.Line, []byte(`"entry":`))
				name = "server." + string(f.Type)
				seen[origin]++
				put(fmt.Sprintf("entry.%s.%d", origin, seen[origin]), bytes.TrimSuffix(line, []byte("}}")))
			}
			if seen[name]++; seen[name] == 1 {
				put(name, f.Line)
			}
		}
	}
}

func played() *script {
	s := begin()
	_, step := s.open()
	s.add(event.UserMessage{Text: "What's up in <b>Paris</b>?"})
	s.add(event.ReasoningChunk{Text: "A weather question. "})
	s.addAs(event.ReasoningID(step), event.Reasoning{Text: "A weather question. "})
	call := event.ToolCall{ID: "call_1", Name: "WebFetch", Args: args(`{"url":"https://example.org/?q=paris&d=1"}`)}
	s.reply(step, "", call)
	s.add(call)
	s.add(event.ApprovalRequested{CallID: call.ID, Name: call.Name, Args: call.Args})
	s.add(event.ApprovalResolved{CallID: call.ID, Verdict: event.Approved, By: "ada"})
	s.add(event.ToolProgress{ID: call.ID, Text: "200 OK\n"})
	s.add(event.ToolResult{ID: call.ID, Content: args(`{"degrees":22.0}`), Display: args(`{"kind":"tool","renderer":"text","summary":"22 °C"}`)})
	s.add(event.StepEnd{N: 1})
	step = s.add(event.StepStart{N: 2, Model: "demo/guide"})
	s.add(event.ContextInjected{Text: "In Fahrenheit, please.", InputID: "i1", Queue: "steer"})
	s.add(event.Diagnostic{Type: "retry", Code: event.CodeProvider, Message: "HTTP 503", Details: args(`{"attempt":2,"after_ms":500}`)})
	s.add(event.AssistantChunk{Text: "72 °F"})
	s.addAs(event.MessageID(step), event.AssistantMessage{
		Parts: []event.Part{{Type: event.PartText, Text: "72 °F"}},
		Usage: &event.Usage{PromptTokens: ptr(int64(812)), CompletionTokens: ptr(int64(9)), Cost: ptr(0.0031)},
	})
	s.add(event.StepEnd{N: 2})
	s.add(event.TurnEnd{Status: event.Completed})
	s.add(event.SessionCompacted{UptoSeq: 19, Summary: "The weather in Paris.", TokensBefore: ptr(int64(821)), TokensAfter: ptr(int64(12))})
	_, step = s.open()
	s.addAs(event.MessageID(step), event.Interrupted{Text: "I was about to"})
	s.add(event.ToolResult{ID: "call_2", Error: ptr("cancelled before execution")})
	s.add(event.TurnEnd{Status: event.Failed, Error: &event.Error{Code: event.CodeContextOverflow, Message: "the history is too long"}})
	s.open()
	s.add(event.TurnEnd{Status: event.Cancelled, Reason: ptr("enough"), Cause: event.CauseSuperseded})

	return s
}

// fromMoments are the frames that no event makes.
func fromMoments(put func(string, []byte)) {
	s := protocol.Session{
		ID: session, Title: "Paris", Agent: "default", Pinned: true, ParentID: ptr("s0"), ForkedFrom: "s3",
		CreatedAt: "2026-08-18T04:10:00.123456Z", UpdatedAt: "2026-08-18T04:10:21.000000Z", LastSeq: 21,
		LastInputAt: "2026-08-18T04:10:03.123456Z", Bytes: 4096, Status: protocol.StatusRequiresAction,
		LiveRunID: "0000000000000001", PendingCount: 1,
		Pending:   []protocol.SessionPending{{ToolCallID: "call_1", ToolName: "WebFetch", RunID: "0000000000000001"}},
		LastError: &protocol.Failure{Code: event.CodeProvider, Message: "HTTP 500"},
	}
	bare := protocol.Session{
		ID: "s2", Agent: "default", CreatedAt: s.CreatedAt, UpdatedAt: s.CreatedAt, Status: protocol.StatusIdle,
		Pending: []protocol.SessionPending{},
	}
	for _, p := range []protocol.ServerPayload{
		protocol.AuthOK{Owner: "ada", Allow: []string{"watch", "inject", "approve"}, LogID: "4f6d0b1e5a7c9382"},
		protocol.RunCompaction{RunID: "", SessionID: session, Phase: protocol.PhaseStarted},
		protocol.RunGap{RunID: "0000000000000001", Dropped: 96, LastGood: 1559, Next: 1656},
		protocol.SessionCreated{Session: bare},
		protocol.SessionUpdated{Session: s},
		protocol.SessionDeleted{SessionID: session},
		protocol.SessionTitleUpdated{SessionID: session, Title: "Paris"},
		protocol.SessionStatusChanged{SessionID: session, Status: protocol.StatusRunning, LiveRunID: "0000000000000001"},
		protocol.SessionBranched{SessionID: session, Leaf: "", Previous: "0000000000000003"},
		protocol.SessionInbox{SessionID: session, Items: []protocol.InboxItem{{
			InputID: "i1", Queue: protocol.QueueFollowUp, Text: "and Rome?", Wake: true, QueuedAt: s.CreatedAt,
		}}},
	} {
		put("server."+string(p.ServerType()), protocol.Encode(p, 0))
	}
	put("server.auth.ok.agents", protocol.Encode(protocol.AuthOK{Owner: "ada", Allow: []string{}, Agents: []string{"bot-*"}, LogID: "4f6d0b1e5a7c9382"}, 0))
	put("server.run.error.refused", protocol.Encode(protocol.RunError{
		SessionID: session, Code: protocol.CodeSessionBusy, Message: "a run is going on this session",
	}, 0))
}

func fromClients(t *testing.T, put func(string, []byte)) {
	encode := func(v any) []byte {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	put("client.auth", encode(protocol.Auth{Type: protocol.TypeAuth, Token: "hp_example"}))
	for _, p := range []protocol.ClientPayload{
		protocol.RunCreate{SessionID: session, Input: "hello", Agent: "scout"},
		protocol.RunSubscribe{RunID: "0000000000000001", FromSeq: 41},
		protocol.RunCancel{RunID: "0000000000000001", Mode: protocol.ModeGraceful},
		protocol.RunInject{RunID: "0000000000000001", Queue: protocol.QueueSteer, Input: "shorter"},
		protocol.ToolApprove{ToolCallID: "call_1", RunID: "0000000000000001", Scope: "once"},
		protocol.ToolReject{ToolCallID: "call_1", Reason: "not today"},
	} {
		put("client."+string(p.ClientType()), encode(struct {
			Type    protocol.ClientType    `json:"type"`
			Payload protocol.ClientPayload `json:"payload"`
		}{p.ClientType(), p}))
	}
}

// fromLaterVersions are frames and entries that this version does not make: a client
// keeps its socket and shows what it can.
func fromLaterVersions(put func(string, []byte)) {
	const head = `{"id":"00000000000000aa","seq":41,"kind":`
	const tail = `,"run_id":"0000000000000001","created_at":"2026-08-18T04:10:00.123456Z","on_path":true,"compacted":false,"mood":"sunny"}`
	put("unknown.frame", []byte(`{"type":"run.weather","seq":42,"payload":{"run_id":"0000000000000001","sky":"clear"}}`))
	put("unknown.code", []byte(`{"type":"run.error","seq":43,"payload":{"run_id":"0000000000000001","code":"cosmic_ray","message":"a bit flipped"}}`))
	put("unknown.field", []byte(`{"type":"run.delta","seq":44,"payload":{"run_id":"0000000000000001","entry_id":"00000000000000aa","field":"gesture","delta":"waves"}}`))
	put("unknown.status", []byte(`{"type":"session.status","payload":{"session_id":"s1","status":"dreaming","pending_count":0}}`))
	put("unknown.kind", []byte(head+`"poll","parent_id":"","source":{"type":"model"},"display":{"kind":"poll"},"usage":null,"payload":{"options":["a","b"]}`+tail))
	put("unknown.source", []byte(head+`"item","parent_id":"","source":{"type":"oracle"},"display":{"kind":"message","renderer":"hologram"},"usage":null,"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`+tail))
	put("unknown.item", []byte(head+`"item","parent_id":"","source":{"type":"model"},"display":{"kind":"image"},"usage":null,"payload":{"type":"image_generation_call","id":"00000000000000aa"}`+tail))
	put("unknown.content", []byte(head+`"item","parent_id":"","source":{"type":"model"},"display":{"kind":"message"},"usage":null,"payload":{"id":"00000000000000aa","type":"message","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"no"}]}`+tail))
}
