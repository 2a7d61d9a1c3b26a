//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"hitchpost/turn/event"
	"hitchpost/turn/tool"
)

const maxTitle = 120 // characters

const description = `Runs a command in bash. The shell lives on between calls: working directory, variables and functions last. ` +
	`Output and errors come together, the exit code behind them; of long output the middle is left out. ` +
	`There is no terminal and standard input is empty. Start servers and the like with & and look at them later. ` +
	`A command that takes longer than its timeout is killed, and the shell with everything that it started.`

const schema = `{"type":"object","additionalProperties":false,"required":["command"],"properties":{
"command":{"type":"string","minLength":1,"description":"The command, one line or several"},
"timeout":{"type":"integer","minimum":1,"maximum":600000,"description":"Milliseconds until it is killed, 120000 if left out"},
"description":{"type":"string","description":"What the command does, in a few words, for whoever is asked to allow it"}}}`

type args struct {
	Command string      `json:"command"`
	Timeout json.Number `json:"timeout"`
}

// Tools is Bash: it changes things, runs alone and never twice.
func (s *Shells) Tools() []tool.Tool {
	bash := tool.Tool{Name: "Bash", Description: description, Schema: json.RawMessage(schema),
		Mutating: true, Approval: tool.Always, Run: s.run}
	if s.box.Holds() {
		bash.Approval = tool.ByPolicy
	}
	if split := s.box.Split(); len(split) > 0 {
		bash.Description += " Directly in " + strings.Join(split, ", ") + " it can make, replace and remove nothing, only in the folders there" +
			" and in $TMPDIR. What other tools put there is in reach from the next call on, unless background jobs run."
	}
	return []tool.Tool{bash}
}

func (s *Shells) run(ctx context.Context, call tool.Call) tool.Result {
	var a args
	if err := json.Unmarshal(call.Args, &a); err != nil {
		return tool.Fail(err.Error())
	}
	switch {
	case len(a.Command) > maxCommand:
		return tool.Fail(fmt.Sprintf("the command has %d bytes, at most %d are allowed: put it into a file", len(a.Command), maxCommand))
	case strings.ContainsRune(a.Command, 0):
		return tool.Fail("the command holds a NUL character, which no command can")
	}
	timeout := defaultTimeout
	if ms, err := a.Timeout.Float64(); err == nil {
		timeout = min(time.Duration(ms)*time.Millisecond, maxTimeout)
	}
	one, err := s.enter(ctx, call.Session)
	if err != nil {
		return tool.Fail(err.Error())
	}
	defer s.leave(one)
	sh, note, err := s.ready(ctx, one)
	if err != nil {
		return broken(err.Error(), a.Command)
	}
	limited, stop := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer stop()
	out := sh.call(limited, a.Command, call.Progress)
	return out.result(note, a.Command, timeout)
}

var errTimeout = errors.New("the time of the command is up")

// outcome is how a command ended.
type outcome struct {
	text string // what it printed
	code int
	end  string // why the shell is gone; "" = it is not
	err  error  // what ended the command; nil = itself
}

func (o outcome) result(note, command string, timeout time.Duration) tool.Result {
	text := note + o.text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	switch {
	case errors.Is(o.err, errTimeout):
		res := broken(fmt.Sprintf("the command took longer than %s and was killed, with the shell and everything that it started\n%s", timeout, text), command)
		res.Cause = string(event.CodeToolTimeout)
		return res
	case o.err != nil:
		return broken(o.err.Error()+"\n"+text, command)
	}
	text += fmt.Sprintf("[exit code %d]", o.code)
	if o.end != "" {
		text += "\n[the shell has ended: the next call gets a fresh one, with working directory and environment as at the start]"
	}
	res := tool.Text(text)
	res.Display = display(command, fmt.Sprintf("exit code %d", o.code), map[string]any{"exit_code": o.code})
	return res
}

// broken is a command that did not come to its own end.
func broken(message, command string) tool.Result {
	first, _, _ := strings.Cut(message, "\n")
	return tool.Result{Error: strings.TrimSpace(message), Cause: string(event.CodeSandbox), Display: display(command, first, nil)}
}

func display(command, summary string, extra map[string]any) json.RawMessage {
	title, _, more := strings.Cut(strings.TrimSpace(command), "\n")
	if runes := []rune(title); len(runes) > maxTitle {
		title, more = string(runes[:maxTitle]), true
	}
	if more {
		title += "…"
	}
	hint := map[string]any{"kind": "tool", "renderer": "terminal", "title": title, "summary": summary}
	if extra != nil {
		hint["extra"] = extra
	}
	b, _ := json.Marshal(hint) // strings and a number always encode
	return b
}
