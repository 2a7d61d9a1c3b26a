package agentsocket

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"hitchpost/server/auth"
	"hitchpost/server/wsconn"
)

// Agent Socket v1: anything else is answered with bad_frame; the connection stays
// open and nothing is appended. guarantee 3
func TestEveryBadFrameGetsOneBadFrameAndChangesNothing(t *testing.T) {
	w := newWorld(t, settings{})
	log := w.open("a")
	p := w.join("a")
	bads := []string{
		`{"type":"set_model","role":"main","model":"nonsense"}`,
		`{"type":"set_model","role":"main","model":"/one"}`,
		`{"type":"set_model","role":"main","model":"demo/"}`,
		`{"type":"set_model","role":"main","model":"nowhere/one"}`,
		`{"type":"set_model","role":"","model":"demo/one"}`,
		`{"type":"inject","text":"` + strings.Repeat("x", wsconn.MaxMessage) + `"}`,
	}
	for _, c := range badFrames {
		bads = append(bads, c.text)
	}
	for _, text := range bads {
		p.send(text)
		p.refusal(CodeBadFrame)
		p.alive() // exactly one answer
	}
	if tip, _ := log.Tip(); tip != 0 {
		t.Errorf("the log has grown to seq %d", tip)
	}
}

func TestABinaryFrameIsABadFrameWhateverItHolds(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("a")
	if err := p.ws.Write(context.Background(), websocket.MessageBinary, []byte(subscribeFrom(0))); err != nil {
		t.Fatal(err)
	}
	if m := p.refusal(CodeBadFrame); !strings.Contains(m, "binary") {
		t.Errorf("message %q", m)
	}
	p.alive()
	p.send(subscribeFrom(0))
	p.event(0)
}

// Agent Socket v1: frames larger than 1 MiB are rejected as bad_frame.
func TestAFrameOfExactlyOneMiBIsTakenAndOneByteMoreIsNot(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("a")
	frame := func(size int) string {
		const head, tail = `{"type":"inject","text":"`, `"}`
		return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
	}
	p.send(frame(1<<20 + 1))
	p.refusal(CodeBadFrame)
	p.send(frame(1<<20), `{"type":"inject","text":"go","wake":true}`, subscribeFrom(1))
	if types := p.until("turn/end"); !slices.Contains(types, "context/injected") {
		t.Errorf("types = %v, want the large text among them", types)
	}
}

// Agent Socket v1, inject: wake on an idle agent starts a turn with text as its
// input; with wake false it is queued and rides into the next step.
func TestInjectStartsATurnOrWaitsForTheNextStep(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("a")
	p.send(subscribeFrom(1), `{"type":"inject","text":"first"}`, `{"type":"inject","text":"second","wake":false}`)
	p.alive() // nothing runs
	p.send(`{"type":"inject","text":"go","wake":true}`)
	want := []string{"turn/start", "step/start", "user/message", "context/injected", "context/injected", "assistant/chunk", "assistant/message", "step/end", "turn/end"}
	if got := p.until("turn/end"); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

func TestAnInjectThatIsSentAgainUnderItsIDTakesEffectOnce(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("a")
	const again = `{"type":"inject","text":"go","wake":true,"id":"i-1"}`
	p.send(subscribeFrom(1), again)
	p.until("turn/end")
	p.event(8) // session/titled
	p.send(again)
	p.alive()
	p = w.join("a")
	p.send(again)
	p.alive()
	if tip, _ := w.open("a").Tip(); tip != 8 {
		t.Errorf("the log has grown to seq %d:\n%s", tip, strings.Join(lines(t, w.open("a"), 9), "\n"))
	}
}

// Agent Socket v1, inject: no wake is ever dropped.
func TestWakesInOneBurstStartOneTurnAndLoseNoText(t *testing.T) {
	w := newWorld(t, settings{})
	w.model.Replies <- []string{"a", wait, "b"}
	p := w.join("a")
	var burst []string
	for i := range 20 {
		burst = append(burst, fmt.Sprintf(`{"type":"inject","text":"text %d.","wake":true}`, i))
	}
	p.send(append(burst, `{"type":"cancel","reason":7}`)...)
	p.refusal(CodeBadFrame) // so all the texts before it have been taken
	<-w.model.Reached
	w.model.Resume <- struct{}{}
	p.send(subscribeFrom(1))
	var all strings.Builder
	for ends := 0; strings.Count(all.String(), "text ") < 20 || ends == 0; {
		text := p.next()
		if strings.Contains(text, `"session/titled"`) {
			continue // it quotes the first text
		}
		all.WriteString(text)
		if strings.Contains(text, `"turn/end"`) {
			ends++
		}
	}
	first, _, _ := strings.Cut(all.String(), `"turn/end"`)
	if n, m := strings.Count(first, `"turn/start"`), strings.Count(all.String(), `"user/message"`); n != 1 || m != 1 {
		t.Errorf("%d turn/start before the first turn/end and %d user/message, want 1 and 1", n, m)
	}
	for i := range 20 {
		if n := strings.Count(all.String(), fmt.Sprintf(`"text %d."`, i)); n != 1 {
			t.Errorf("text %d is in the log %d times", i, n)
		}
	}
}

// Agent Socket v1, cancel: a cooperative stop; with no turn running, not_running.
func TestCancelStopsTheRunningTurn(t *testing.T) {
	w := newWorld(t, settings{})
	w.model.Replies <- []string{"half", wait, "never"}
	p := w.join("a")
	p.send(`{"type":"cancel","reason":"too early"}`)
	p.refusal(CodeNotRunning)
	p.send(`{"type":"inject","text":"go","wake":true}`)
	<-w.model.Reached
	p.send(`{"type":"cancel","reason":"enough"}`, subscribeFrom(1))
	for {
		text := p.next()
		if strings.Contains(text, `"turn/end"`) {
			if !strings.Contains(text, `{"status":"cancelled","reason":"enough"}`) {
				t.Errorf("%s", text)
			}
			break
		}
	}
	p.until("session/titled")
	p.alive()
}

// Agent Socket v1, approve / deny: where approvals are not mounted both frames
// answer unsupported.
func TestVerdictsAreUnsupportedWhereApprovalsAreNotMounted(t *testing.T) {
	w := newWorld(t, settings{noApprovals: true})
	p := w.join("a")
	p.send(`{"type":"approve","call_id":"c"}`, `{"type":"deny","call_id":"c","reason":"no"}`)
	p.refusal(CodeUnsupported)
	p.refusal(CodeUnsupported)
	p.alive()
}

// park has the agent ask for a verdict on the call c1.
func (w *world) park(p *peer) {
	w.t.Helper()
	w.model.Replies <- []string{call}
	p.send(subscribeFrom(1), `{"type":"inject","text":"go","wake":true}`)
	p.until("approval/requested")
}

// Agent Socket v1, approve / deny: a verdict is durable and unparks the call; only a
// standing request without one yet is accepted.
func TestAVerdictIsTakenOnceAndOnlyForAStandingCall(t *testing.T) {
	for verdict, want := range map[string]string{
		`{"type":"approve","call_id":"c1"}`:             `"payload":{"call_id":"c1","verdict":"approved"}}`,
		`{"type":"deny","call_id":"c1","reason":"hm"}`:  `"payload":{"call_id":"c1","verdict":"denied","reason":"hm"}}`,
		`{"type":"approve","call_id":"c1","reason":""}`: `"payload":{"call_id":"c1","verdict":"approved"}}`,
	} {
		w := newWorld(t, settings{})
		p := w.join("a")
		p.send(`{"type":"approve","call_id":"c1"}`)
		p.refusal(CodeStaleCall)
		w.park(p)
		p.send(`{"type":"deny","call_id":"typo"}`)
		p.refusal(CodeStaleCall)
		p.send(verdict, verdict)
		resolved, stale, all := 0, 0, ""
		for !strings.Contains(all, `"turn/end"`) || stale == 0 {
			text := p.next()
			all += text
			if strings.Contains(text, `"approval/resolved"`) {
				resolved++
				if !strings.HasSuffix(text, want) {
					t.Errorf("%s, want %s", text, want)
				}
			}
			if strings.Contains(text, `"stale_call"`) {
				stale++
			}
		}
		if resolved != 1 || stale != 1 {
			t.Errorf("%s twice: %d verdicts in the log, %d stale_call", verdict, resolved, stale)
		}
	}
}

// A standing approval is never hidden by the replay cap.
func TestHelloNamesTheStandingApprovals(t *testing.T) {
	w := newWorld(t, settings{replay: 1})
	w.park(w.join("a"))
	const want = `"status":"waiting_approval","pending":[{"call_id":"c1","name":"ask","args":{"n":1.0}}]`
	if got := w.dial("a", "secret-all", auth.Subprotocol).next(); !strings.Contains(got, want) {
		t.Errorf("hello = %s, want %s in it", got, want)
	}
	w.restart()
	if got := w.dial("a", "secret-all", auth.Subprotocol).next(); !strings.Contains(got, want) {
		t.Errorf("hello after a restart = %s, want %s in it", got, want)
	}
	// Agent Socket v1, approve / deny: the verdict resumes the turn.
	p := w.join("a")
	p.send(subscribeFrom(1), `{"type":"approve","call_id":"c1"}`)
	if types := strings.Join(p.until("turn/end"), " "); strings.Contains(types, "turn/start") || strings.Count(types, "tool/result") != 1 {
		t.Errorf("events %s, want no second turn and one result", types)
	}
}

// Agent Socket v1, cancel: a turn parked on an approval also cancels.
func TestCancelDeniesWhatStandsAndEndsTheTurn(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("a")
	w.park(p)
	p.send(`{"type":"cancel","reason":"enough"}`)
	all := ""
	for !strings.Contains(all, `"session/titled"`) {
		all += p.next()
	}
	for _, want := range []string{`"verdict":"denied","reason":"enough"`, `"status":"cancelled","reason":"enough"`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	p.send(`{"type":"approve","call_id":"c1"}`)
	p.refusal(CodeStaleCall)
	p.alive()
}

// Agent Socket v1: set_policy appends policy/updated {patterns}; set_model takes
// effect at the next step.
func TestSetPolicyAndSetModelAreInTheLogBeforeTheNextFrameIsHandled(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("a")
	p.send(`{"type":"set_policy","patterns":["Read","mcp__*"]}`, `{"type":"set_model","role":"main","model":"demo/two/b"}`, subscribeFrom(1))
	if got := p.event(1); !strings.HasSuffix(got, `"type":"policy/updated","payload":{"patterns":["Read","mcp__*"]}}`) {
		t.Error(got)
	}
	if got := p.event(2); !strings.HasSuffix(got, `"type":"model/updated","payload":{"role":"main","model":"demo/two/b"}}`) {
		t.Error(got)
	}
	p.send(`{"type":"inject","text":"go","wake":true}`)
	p.event(3)
	if got := p.event(4); !strings.Contains(got, `"model":"demo/two/b"`) {
		t.Error(got)
	}
}

// unsupported also answers a token that lacks the verb.
func TestATokenWithoutTheVerbIsAnsweredUnsupportedAndStays(t *testing.T) {
	w := newWorld(t, settings{})
	w.open("a")
	frames := map[string]string{
		"watch":   subscribeFrom(0),
		"inject":  `{"type":"inject","text":"x"}`,
		"cancel":  `{"type":"cancel"}`,
		"approve": `{"type":"approve","call_id":"c"}`,
		"deny":    `{"type":"deny","call_id":"c"}`,
		"model":   `{"type":"set_model","role":"main","model":"demo/x"}`,
		"policy":  `{"type":"set_policy","patterns":[]}`,
	}
	for secret, may := range map[string][]string{"secret-eye": {"watch"}, "secret-hand": {"inject", "cancel"}} {
		p := w.dial("a", secret)
		p.next()
		for name, frame := range frames {
			if slices.Contains(may, name) {
				continue
			}
			p.send(frame)
			if m := p.refusal(CodeUnsupported); !strings.Contains(m, "this token may not") {
				t.Errorf("%s with %s: %q", name, secret, m)
			}
			p.send(strings.Replace(frame, `"type"`, `"wake":7,"type"`, 1)) // shape comes first
			p.refusal(CodeBadFrame)
		}
	}
	if tip, _ := w.open("a").Tip(); tip != 0 {
		t.Errorf("the log has grown to seq %d", tip)
	}
}

// guarantee 4
func TestFramesSentBeforeHelloIsReadAreHandledInOrderAfterIt(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.dial("a", "secret-all")
	p.send(subscribeFrom(0), `{"type":"cancel"}`, `{"type":"nonsense"}`)
	var got []string
	for range 4 {
		got = append(got, p.next())
	}
	if !strings.Contains(got[0], `"hello"`) {
		t.Errorf("the first frame is %s", got[0])
	}
	all := strings.Join(got, "\n")
	if i, j := strings.Index(all, "not_running"), strings.Index(all, "bad_frame"); i < 0 || j < i || !strings.Contains(all, "session/created") {
		t.Errorf("frames:\n%s", all)
	}
}

// A frame whose append fails answers internal with the cause, and closes.
func TestAFrameWhoseAppendFailsEndsTheConnectionAsInternal(t *testing.T) {
	w := newWorld(t, settings{})
	p := w.join("a")
	p.send(`{"type":"set_policy","patterns":["a"]}`) // the state is in memory now
	p.alive()
	w.store.Close()
	p.send(`{"type":"set_policy","patterns":["b"]}`)
	if m := p.refusal(CodeInternal); !strings.Contains(m, "could not be written") {
		t.Errorf("message %q", m)
	}
	if frames, code := p.rest(); len(frames) != 0 || code != websocket.StatusInternalError {
		t.Errorf("frames %q, close code %d", frames, code)
	}
}

// Agent Socket v1, inject: wake on an idle agent resumes the turn that the log has
// open; no second turn/start, and the text is context/injected.
func TestAWakeResumesTheTurnThatARestartLeftOpen(t *testing.T) {
	w := newWorld(t, settings{})
	w.model.Replies <- []string{"a", wait, "b"}
	w.join("a").send(`{"type":"inject","text":"go","wake":true}`)
	<-w.model.Reached
	w.restart()
	p := w.join("a")
	p.send(`{"type":"cancel"}`)
	p.refusal(CodeNotRunning)
	p.send(`{"type":"inject","text":"on","wake":true}`, subscribeFrom(1))
	types := strings.Join(p.until("turn/end"), " ")
	if strings.Count(types, "turn/start") != 1 || strings.Count(types, "user/message") != 1 || strings.Count(types, "context/injected") != 1 {
		t.Errorf("events %s", types)
	}
}
