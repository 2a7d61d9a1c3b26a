package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/redact"
	"hitchpost/turn/tool"
)

const secret = "sk-live-0123456789abcdef"

// maskingWorld masks secret, and has a tool whose results hold it.
func maskingWorld(t *testing.T) *world {
	w := newWorld(t)
	w.cfg.Redact = redact.New([]string{secret}, []*regexp.Regexp{regexp.MustCompile(`tok_\w{6,}`)})
	anything := json.RawMessage(`{"type":"object"}`)
	answer := func(res tool.Result) func(context.Context, tool.Call) tool.Result {
		return func(_ context.Context, c tool.Call) tool.Result {
			w.ran.add(c.ID)
			if bytes.Contains(c.Args, []byte(secret)) {
				t.Errorf("call %s runs with %s", c.ID, c.Args)
			}
			return res
		}
	}
	set, err := tool.NewSet([]tool.Tool{
		{Name: "leak", Schema: anything, Approval: tool.Never, Run: answer(tool.Result{
			Content: json.RawMessage(`{"` + secret + `":["x ` + secret + `"],"escaped":"sk\u002dlive-0123456789abcdef","n":12345678901234567890}`),
			Display: json.RawMessage(`{"kind":"tool","title":"` + secret + `"}`),
		})},
		{Name: "fault", Schema: anything, Approval: tool.Never, Run: answer(tool.Fail("no such file: " + secret))},
		{Name: "ask", Schema: anything, Approval: tool.Always, Run: answer(tool.Text("asked"))},
		{Name: "change", Schema: anything, Approval: tool.Never, Mutating: true, Run: answer(tool.Text("changed"))},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.cfg.Tools = func() *tool.Set { return set }
	w.host.Reload(w.cfg)
	return w
}

// replies adds what the model answers, one reply an entry.
func (w *world) replies(all ...[]act) {
	w.model.mu.Lock()
	defer w.model.mu.Unlock()
	w.model.replies = append(w.model.replies, all...)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// leaks looks for the secret in the events, the requests and the bytes of the database.
func (w *world) leaks() {
	w.t.Helper()
	log := w.log()
	checkInvariants(w.t, log)
	for _, ev := range log {
		if bytes.Contains(ev.Payload, []byte("0123456789abcdef")) || bytes.Contains(ev.Payload, []byte("tok_")) {
			w.t.Errorf("seq %d, %s: %s", ev.Seq, ev.Type, ev.Payload)
		}
	}
	for i, req := range w.model.asked() {
		checkRequest(w.t, req)
		if text := fmt.Sprintf("%s %+v", mustJSON(w.t, req), req); strings.Contains(text, "0123456789abcdef") {
			w.t.Errorf("request %d: %s", i, text)
		}
	}
	for _, suffix := range []string{"", "-wal"} {
		stored, err := os.ReadFile(w.path + suffix)
		if err != nil {
			w.t.Fatal(err)
		}
		if bytes.Contains(stored, []byte(secret)) {
			w.t.Errorf("the database holds the secret, in %s", w.path+suffix)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Guarantee 15.
func TestASecretReachesNoEventNoRequestAndNoFileWhereverItComesFrom(t *testing.T) {
	ctx := context.Background()
	w := maskingWorld(t)
	args := json.RawMessage(`{"text":"` + secret + `","` + secret + `":{"list":["tok_abcdef"]}}`)
	for i := range len(secret) + 1 {
		w.replies([]act{
			{retry: &model.Retry{Attempt: 2, Cause: &model.Error{Code: event.CodeProvider, Message: "refused " + secret}}},
			{reasoning: "use " + secret[:i]}, {reasoning: secret[i:] + " now"},
			{text: "The key is " + secret[:i]}, {text: secret[i:] + ", and tok_a"}, {text: "bcdef"}, {text: "."},
			{call: &model.Call{ID: fmt.Sprintf("leak%d", i), Name: "leak", Args: args}},
			{call: &model.Call{ID: fmt.Sprintf("fault%d", i), Name: "fault", Args: args}},
			{call: &model.Call{ID: fmt.Sprintf("change%d", i), Name: "change", Args: args}},
			{call: &model.Call{ID: fmt.Sprintf("bad%d", i), Name: "leak", Args: json.RawMessage(`{}`), ArgsError: "got " + secret}},
			{call: &model.Call{ID: fmt.Sprintf("none%d", i), Name: secret, Args: args}},
			{call: &model.Call{ID: fmt.Sprintf("ask%d", i), Name: "ask", Args: args}},
		}, []act{
			{text: "half " + secret[:i]}, {err: providerError(event.CodeProvider, "401: key "+secret+" is wrong")},
		})
		w.must(w.agent.Inject(ctx, Inject{Text: "waits: " + secret}))
		w.must(w.agent.Inject(ctx, Inject{Text: "use " + secret + "!", Wake: true}))
		asked := fmt.Sprintf("ask%d", i)
		w.parked([]string{asked})
		st, err := w.agent.State(ctx)
		w.must(err)
		if bytes.Contains(st.Pending[0].Args, []byte(secret)) {
			t.Errorf("the pending call shows %s", st.Pending[0].Args)
		}
		w.must(w.agent.Inject(ctx, Inject{Text: "meanwhile " + secret}))
		reason := "because of " + secret
		w.must(w.agent.Decide(ctx, Verdict{CallID: asked, Reason: &reason, By: secret}))
		w.idle()
	}
	w.leaks()
	if n := w.ran.of("change0"); n != 0 {
		t.Error("a call that changes something ran with a mask in its arguments")
	}
	if w.ran.of("leak0") != 1 || w.ran.of("fault0") != 1 {
		t.Error("calls that change nothing did not run")
	}
	shown := render(w.log())
	for _, want := range []string{
		`assistant/message {"parts":[{"type":"text","text":"The key is [masked secret], and [masked secret]."}`,
		`{"[masked secret]":["x [masked secret]"],"escaped":"[masked secret]","n":12345678901234567890}`,
		`context/injected {"text":"meanwhile [masked secret]"}`,
		`"error":"ask denied: because of [masked secret]"`,
		`change did not run: its arguments hold \"[masked secret]\"`,
		`turn/end {"status":"failed","error":{"code":"provider_error","message":"401: key [masked secret] is wrong"}}`,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the log does not hold %s", want)
		}
	}
	if t.Failed() {
		t.Log(shown[:min(len(shown), 6000)])
	}
}

// Guarantee 15.
func TestMaskingKeepsTheStreamFlowing(t *testing.T) {
	w := maskingWorld(t)
	w.replies([]act{{text: "Hello "}, {text: "wor"}, {text: "ld, " + secret[:9]}, {gate: "held"}, {text: secret[9:]}, {text: "."}})
	w.must(w.agent.Inject(context.Background(), Inject{Text: "go", Wake: true}))
	w.gates.await(t, "held")
	w.wait(func(State) bool { return strings.HasSuffix(w.chunks(), "|ld, |") })
	w.gates.open("held")
	w.idle()
	if got, want := w.chunks(), "Hello |wor|ld, |[masked secret]|.|"; got != want {
		t.Errorf("streamed %s, want %s", got, want)
	}
	w.leaks()
}

// chunks is the streamed text, a bar behind each piece.
func (w *world) chunks() string {
	var b strings.Builder
	for _, ev := range w.log() {
		if event.Type(ev.Type) == event.AssistantChunkType {
			var p event.AssistantChunk
			mustUnmarshal(w.t, ev.Payload, &p)
			b.WriteString(p.Text + "|")
		}
	}
	return b.String()
}

// Guarantee 15: whatever cuts a stream inside a secret.
func TestAStreamCutInsideASecretLosesNoTextAndShowsNoKey(t *testing.T) {
	cut := len(secret) - 1
	for name, end := range map[string]func(w *world){
		"cancel":  func(w *world) { w.must(w.agent.Cancel(context.Background(), nil)); w.idle() },
		"restart": func(w *world) { w.restart(); w.replies([]act{{text: "again"}}); w.wake(); w.idle() },
	} {
		t.Run(name, func(t *testing.T) {
			w := maskingWorld(t)
			w.replies([]act{{text: "a sk-"}, {text: "b " + secret[:cut]}, {gate: "held"}})
			w.wake()
			w.gates.await(t, "held")
			w.wait(func(State) bool { return strings.Contains(w.chunks(), "b ") })
			end(w)
			if got := w.chunks(); !strings.HasPrefix(got, "a |sk-b |[masked secret]|") {
				t.Errorf("streamed %s", got)
			}
			w.leaks()
			if shown := render(w.log()); !strings.Contains(shown, `"a sk-b [masked secret]"`) || strings.Contains(shown, secret[:cut]) {
				t.Errorf("log:\n%s", shown)
			}
		})
	}
}

func (w *world) wake() {
	w.t.Helper()
	w.must(w.agent.Inject(context.Background(), Inject{Text: "go", Wake: true}))
}

// Guarantee 15: a pattern that is too wide must not break a session.
func TestWhatTheTurnReadsBackIsNeverMasked(t *testing.T) {
	w := maskingWorld(t)
	w.cfg.Redact = redact.New(nil, []*regexp.Regexp{regexp.MustCompile(`\S+`)})
	w.host.Reload(w.cfg)
	usage := int64(1234)
	w.must(w.agent.SetPolicy(context.Background(), []string{"*"}, "me"))
	w.must(w.agent.SetModel(context.Background(), RoleMain, "demo/other"))
	w.replies([]act{
		{usage: &event.Usage{PromptTokens: &usage}}, {reasoning: "hm"}, {text: "doing"},
		{call: &model.Call{ID: "c1", Name: "leak", Args: json.RawMessage(`{}`), ArgsError: "nonsense"}},
	}, []act{{text: "done"}})
	w.wake()
	w.idle()
	got := render(w.log())
	for _, want := range []string{
		`policy/updated {"patterns":["*"],"by":"[masked secret]"}`, `model/updated {"role":"main","model":"demo/other"}`,
		`run/diagnostic {"type":"invalid_arguments","code":"model_behavior","message":"[masked secret] `, `"details":{"call_id":"c1"}}`,
		`{"type":"tool_call","id":"c1","name":"[masked secret]","args":{}}`, `"usage":{"prompt_tokens":1234,`,
		`turn/end {"status":"completed"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// Guarantee 15: a provider would refuse its own data changed.
func TestAProvidersOwnDataWithASecretInItIsLeftOut(t *testing.T) {
	w := maskingWorld(t)
	for opaque, kept := range map[string]bool{`{"signature":"abc"}`: true, `{"thinking":"` + secret + `","signature":"abc"}`: false} {
		p := w.agent.masked(event.Reasoning{Text: "see " + secret, Opaque: json.RawMessage(opaque)}).(event.Reasoning)
		if p.Text != "see "+redact.Mark || (p.Opaque != nil) != kept {
			t.Errorf("%s became %+v", opaque, p)
		}
	}
}

// TestASecretSplitOverOutputIsInNoProgress: guarantee 15, at every position, also where
// the output ends inside it.
func TestASecretSplitOverOutputIsInNoProgress(t *testing.T) {
	w := maskingWorld(t)
	var pieces []string
	speak := tool.Tool{Name: "speak", Schema: json.RawMessage(`{"type":"object"}`), Approval: tool.Never, Run: func(_ context.Context, c tool.Call) tool.Result {
		for _, piece := range pieces {
			c.Progress(piece)
		}
		return tool.Text(strings.Join(pieces, ""))
	}}
	set, err := tool.NewSet([]tool.Tool{speak})
	w.must(err)
	w.cfg.Tools = func() *tool.Set { return set }
	w.host.Reload(w.cfg)
	for i := range len(secret) + 1 {
		pieces = []string{"the key: ", secret[:i], secret[i:], ", and ", secret[:i]}
		w.replies([]act{{call: &model.Call{ID: fmt.Sprintf("c%d", i), Name: "speak", Args: json.RawMessage(`{}`)}}}, []act{{text: "done"}})
		w.play("wake go\nidle")
	}
	w.leaks()
	shown := map[string]string{}
	for _, ev := range w.log() {
		if event.Type(ev.Type) == event.ToolProgressType {
			var p event.ToolProgress
			mustUnmarshal(t, ev.Payload, &p)
			shown[p.ID] += p.Text
		}
	}
	for i := range len(secret) + 1 {
		if got := shown[fmt.Sprintf("c%d", i)]; !strings.HasPrefix(got, "the key: [masked secret], and ") {
			t.Errorf("split at %d: %q", i, got)
		}
	}
}
