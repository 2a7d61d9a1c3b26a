package turn

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hitchpost/store"
	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

var update = flag.Bool("update", false, "rewrite the expected logs of testdata/golden")

// TestOrdersOfEventsAreTheGoldenOnes runs every file of testdata/golden: a script
// above, the log it must leave below. Ids and times are left out of the log.
func TestOrdersOfEventsAreTheGoldenOnes(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, want, _ := strings.Cut(string(text), "----\n")
			got := play(t, script)
			if *update {
				if err := os.WriteFile(file, []byte(script+"----\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("log differs (-want +got):\n%s", diff)
			}
		})
	}
}

// play runs a script against a real store and returns the log of session s1.
// Lines: "model …" adds a reply; the others are commands in order; a command that
// must be refused ends with " ! MESSAGE".
func play(t *testing.T, script string) string {
	w := newWorld(t)
	for _, line := range strings.Split(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		command, refusal, refused := strings.Cut(line, " ! ")
		verb, rest, _ := strings.Cut(command, " ")
		err := w.run(verb, rest)
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), refusal)):
			t.Fatalf("%s: got %v, want refusal %q", line, err, refusal)
		case !refused && err != nil:
			t.Fatalf("%s: %v", line, err)
		}
	}
	w.until(Idle, Resumable, Waiting)
	log := w.log()
	checkInvariants(t, log)
	return render(log) + w.subagents()
}

// subagents shows the logs of all subagents, in no order of time.
func (w *world) subagents() string {
	w.t.Helper()
	var logs []string
	sessions, err := w.store.Sessions(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range sessions {
		if s.ParentID == "" {
			continue
		}
		a := w.hold(s.ID)
		log := wholeLog(w.t, a.Log())
		checkInvariants(w.t, log)
		logs = append(logs, "-- subagent\n"+render(log))
		a.Release()
	}
	slices.Sort(logs)
	return strings.Join(logs, "")
}

func (w *world) run(verb, rest string) error {
	ctx := context.Background()
	switch verb {
	case "model":
		acts, err := parseReply(rest)
		w.model.add("", acts)
		return err
	case "model-of": // the next reply of another model than the agent's own
		name, reply, _ := strings.Cut(rest, " ")
		acts, err := parseReply(reply)
		w.model.add(name, acts)
		return err
	case "max_agents":
		n, err := strconv.Atoi(rest)
		w.cfg.MaxAgents = n
		w.host.Reload(w.cfg)
		return err
	case "closed": // waits until no session has an open turn, for those who read its log
		w.wait(func(State) bool {
			sessions, err := w.store.Sessions(ctx)
			return err == nil && !slices.ContainsFunc(sessions, func(x store.Session) bool { return isOpen(w.logOf(x.ID)) })
		})
	case "resume":
		w.cfg.Resume = Resume(rest)
	case "budget":
		n, err := strconv.ParseInt(rest, 10, 64)
		w.cfg.Compaction = n
		w.host.Reload(w.cfg)
		return err
	case "compact": // with why it must be declined, "" = it must be done
		got, err := w.agent.Compact(ctx)
		if err == nil && (got.Declined != rest || got.Done == (rest != "")) {
			err = fmt.Errorf("compaction came to %+v", got)
		}
		return err
	case "role": // of the definition; a model's reply must be scripted before it is asked
		role, spec, _ := strings.Cut(rest, " ")
		w.define(func(d *Definition) { d.Models[role] = spec })
	case "logged":
		w.logged(event.Type(rest))
	case "wake":
		return w.agent.Inject(ctx, Inject{Text: rest, Wake: true})
	case "continue":
		_, err := w.agent.StartRun(ctx, NewRun{})
		return err
	case "inject":
		return w.agent.Inject(ctx, Inject{Text: rest})
	case "inject-id":
		id, text, _ := strings.Cut(rest, " ")
		return w.agent.Inject(ctx, Inject{Text: text, Wake: true, ID: id})
	case "start", "start-key", "start-as": // the last two with a key and a definition in front
		r := NewRun{Input: rest}
		if verb == "start-key" {
			r.Key, r.Input, _ = strings.Cut(rest, " ")
		}
		if verb == "start-as" {
			r.Agent, r.Input, _ = strings.Cut(rest, " ")
		}
		_, err := w.agent.StartRun(ctx, r)
		return err
	case QueueSteer, QueueNextTurn, QueueFollowUp:
		return w.agent.InjectInto(ctx, w.runID(), Inject{Text: rest, Queue: verb})
	case "agent": // a second definition, which asks demo/NAME and may only call fast
		agents := maps.Clone(w.cfg.Agents)
		agents[rest] = Definition{System: "I am " + rest + ".", Policy: []string{"fast"}, Models: map[string]string{RoleMain: "demo/" + rest}}
		w.cfg.Agents = agents
		w.host.Reload(w.cfg)
	case "cancel":
		if rest == "" {
			return w.agent.Cancel(ctx, nil)
		}
		return w.agent.Cancel(ctx, &rest)
	case "stop":
		mode, reason, _ := strings.Cut(rest, " ")
		return w.agent.Stop(ctx, Stop{Mode: StopMode(mode), Reason: &reason, Resumable: true})
	case "approve":
		return w.agent.Decide(ctx, Verdict{CallID: rest, Approve: true})
	case "deny":
		id, reason, given := strings.Cut(rest, " ")
		v := Verdict{CallID: id}
		if given {
			v.Reason = &reason
		}
		return w.agent.Decide(ctx, v)
	case "parked":
		w.parked(strings.Fields(rest))
	case "approvals":
		w.cfg.Approvals = rest == "on"
		w.host.Reload(w.cfg)
	case "expires":
		d, err := time.ParseDuration(rest)
		w.cfg.Expires = d
		w.host.Reload(w.cfg)
		return err
	case "ran":
		id, times, _ := strings.Cut(rest, " ")
		if got := fmt.Sprint(w.ran.of(id)); got != times {
			return fmt.Errorf("%s ran %s times", id, got)
		}
	case "policy":
		return w.agent.SetPolicy(ctx, strings.Fields(rest), "")
	case "set_model":
		role, spec, _ := strings.Cut(rest, " ")
		return w.agent.SetModel(ctx, role, spec)
	case "await":
		w.gates.await(w.t, rest)
	case "open":
		w.gates.open(rest)
	case "idle":
		w.idle()
	case "ended": // idle, and no open turn that somebody is about to resume
		w.until(Idle)
	case "restart":
		w.restart()
	case "max_steps":
		n, err := strconv.Atoi(rest)
		w.cfg.MaxSteps = n
		w.host.Reload(w.cfg)
		return err
	case "no_provider":
		w.cfg.Providers = nil
		w.host.Reload(w.cfg)
	case "status":
		st, err := w.agent.State(ctx)
		if err == nil && string(st.Status) != rest {
			err = fmt.Errorf("status is %s", st.Status)
		}
		return err
	default:
		return fmt.Errorf("unknown command %q", verb)
	}
	return nil
}

// render shows a log without ids and times; chunks of one step are joined.
func render(log []store.Event) string {
	var b strings.Builder
	for i := 0; i < len(log); i++ {
		ev := log[i]
		payload := string(ev.Payload)
		if event.Type(ev.Type) == event.AssistantChunkType {
			n := 1
			for i+1 < len(log) && log[i+1].Type == ev.Type {
				i, n = i+1, n+1
			}
			payload = fmt.Sprintf("× %d", n)
		}
		payload = mintedInput.ReplaceAllString(minted.ReplaceAllString(payload, "minted"), `"input_id":"minted"`)
		fmt.Fprintf(&b, "%s %s\n", ev.Type, payload)
	}
	return b.String()
}

var (
	minted      = regexp.MustCompile(`(call_|task-)[0-9a-f]{16}`)
	mintedInput = regexp.MustCompile(`"input_id":"[0-9a-f]{16}"`)
)

func trim(s string) string { return strings.TrimLeft(s, " ") }

func parseAct(line string) (act, string, error) {
	quoted := strings.TrimPrefix(line, "~")
	if strings.HasPrefix(quoted, `"`) {
		q, err := strconv.QuotedPrefix(quoted)
		if err != nil {
			return act{}, "", err
		}
		text, err := strconv.Unquote(q)
		a := act{text: text}
		if quoted != line {
			a = act{reasoning: text}
		}
		return a, quoted[len(q):], err
	}
	word, rest, _ := strings.Cut(line, " ")
	kind, value, _ := strings.Cut(word, ":")
	switch {
	case strings.HasPrefix(word, "@"):
		return act{gate: word[1:]}, rest, nil
	case kind == "call" || kind == "badcall":
		f := strings.SplitN(value, ":", 3)
		if len(f) != 3 {
			return act{}, "", errScriptSyntax
		}
		c := &model.Call{ID: f[0], Name: f[1], Args: json.RawMessage(f[2])}
		if kind == "badcall" {
			c.Args, c.ArgsError = json.RawMessage("{}"), f[2]
		}
		return act{call: c}, rest, nil
	case kind == "usage":
		var in, out int64
		_, err := fmt.Sscanf(value, "%d,%d", &in, &out)
		return act{usage: &event.Usage{PromptTokens: &in, CompletionTokens: &out}}, rest, err
	case kind == "fail":
		code, message, _ := strings.Cut(value, ":")
		return act{err: providerError(event.Code(code), message)}, rest, nil
	}
	return act{}, "", errScriptSyntax
}
