package modeltest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// Client is a client as the providers' packages have them.
type Client interface {
	model.Client
	Close()
}

// Question is what the scenarios ask.
var Question = model.Request{
	Model:    "m",
	Messages: []model.Message{{Role: model.User, Text: "go"}},
	Tools:    []model.Tool{{Name: "Read"}, {Name: "Glob"}, {Name: "Bash"}},
}

// Transcript asks and writes down all that came of it, one thing a line.
func Transcript(t testing.TB, c model.Client, req model.Request) string {
	t.Helper()
	var b, text, thought strings.Builder
	reply, err := c.Stream(context.Background(), req, func(d model.Delta) {
		switch {
		case d.Retry != nil:
			fmt.Fprintf(&b, "retry %d: %s\n", d.Retry.Attempt, failureLine(d.Retry.Cause))
		case d.Text != "":
			text.WriteString(d.Text)
			fmt.Fprintf(&b, "text %+q\n", d.Text)
		case d.Reasoning != "":
			thought.WriteString(d.Reasoning)
			fmt.Fprintf(&b, "reasoning %+q\n", d.Reasoning)
		default:
			t.Error("an empty delta was emitted")
		}
	})
	if err != nil {
		var e *model.Error
		if !errors.As(err, &e) {
			t.Errorf("%T is no *model.Error: %v", err, err)
			return b.String() + err.Error()
		}
		return b.String() + "error " + failureLine(e) + "\n"
	}
	if reply.Text != text.String() { // guarantee 2 of package model
		t.Errorf("the reply says %q, the deltas %q", reply.Text, text.String())
	}
	fmt.Fprintf(&b, "reply %+q stop %q%s\n", reply.Text, reply.Stop, usageLine(reply.Usage))
	if r := reply.Reasoning; r != nil {
		if r.Text != thought.String() {
			t.Errorf("the reasoning says %q, the deltas %q", r.Text, thought.String())
		}
		fmt.Fprintf(&b, "thought %s\n", r.Opaque)
	}
	for _, call := range reply.Calls {
		fmt.Fprintf(&b, "call %q %s(%s)\n", call.ID, call.Name, call.Args)
		if call.ArgsError != "" {
			fmt.Fprintf(&b, "     not run: %s\n", call.ArgsError)
		}
	}
	return b.String()
}

func failureLine(e *model.Error) string {
	s := string(e.Code)
	if e.Retryable {
		s += " retryable"
	}
	if e.RetryAfter > 0 {
		s += " after " + e.RetryAfter.String()
	}
	return s + ": " + e.Message
}

func usageLine(u *event.Usage) string {
	if u == nil {
		return ""
	}
	s := " usage"
	if u.PromptTokens != nil {
		s += " prompt=" + strconv.FormatInt(*u.PromptTokens, 10)
	}
	if u.CompletionTokens != nil {
		s += " completion=" + strconv.FormatInt(*u.CompletionTokens, 10)
	}
	if u.Cost != nil {
		s += " cost=" + strconv.FormatFloat(*u.Cost, 'g', -1, 64)
	}
	return s
}
