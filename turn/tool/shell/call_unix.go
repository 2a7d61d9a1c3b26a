//go:build unix

package shell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// call runs one command and waits for its end, or for the shell's.
func (sh *shell) call(ctx context.Context, command string, progress func(string)) outcome {
	mark := rand.Text()
	stop := context.AfterFunc(ctx, func() { sh.end("the last one was killed, " + context.Cause(ctx).Error()) })
	defer stop()
	sh.script.WriteString(command + "\x00" + mark + "\x00") // fails only if the shell has ended, which is seen below
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	var overdue <-chan time.Time
	cancelled := ctx.Done()
	for {
		select {
		case record := <-sh.status:
			if code, ok := ended(record, mark); ok {
				sh.drain()
				return outcome{text: sh.said.take(), code: code}
			}
		case <-sh.gone:
			return sh.died(ctx)
		case <-cancelled:
			cancelled, overdue = nil, time.After(KillWait)
		case <-overdue:
			return outcome{text: sh.said.take(), err: fmt.Errorf("%w; a process of it cannot be killed and is still there", context.Cause(ctx))}
		case <-tick.C:
			if text := sh.said.news(); text != "" && progress != nil {
				progress(text)
			}
		}
	}
}

// died tells what a command came to whose shell ended under it: by exit, say, or
// because it was killed.
func (sh *shell) died(ctx context.Context) outcome {
	code, why := sh.proc.End()
	o := outcome{text: sh.said.take(), code: code, end: sh.reason()}
	switch {
	case ctx.Err() != nil:
		o.err = context.Cause(ctx)
	case why != "":
		o.err = errors.New(why)
	case sh.ended() != "":
		o.err = errors.New(sh.ended())
	}
	return o
}

// driver is what bash runs: it reads a command, runs it, and only then reads the mark
// that the record of the command's end must bear, so that the command cannot know it.
// Commands get neither the shell's input, which they come from, nor descriptor 3, which
// the records go to; 4 is the way back to the output, whatever exec does to it. The
// inner loop takes a break or continue of the command. Commands are not simply fed to
// bash as its script: after a few syntax errors inside eval it would lose its footing.
// Each builtin is called as one, since a command may give a function its name.
const driver = `exec 4>&1
while IFS= builtin read -r -d '' __command; do
	for __once in 1; do builtin eval "$__command" </dev/null >&4 2>&4 3>&- 4>&-; done
	__code=$?
	IFS= builtin read -r -d '' __mark
	builtin printf '%s %s\n' "$__mark" "$__code" >&3
done`

// ended reads a record; one without this call's mark is none of ours.
func ended(record, mark string) (code int, ok bool) {
	first, second, _ := strings.Cut(strings.TrimSuffix(record, "\n"), " ")
	code, err := strconv.Atoi(second)
	return code, err == nil && first == mark
}
