package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
	"hitchpost/turn/model/piece"
)

// flood is a provider that begins with head and then sends more for ever.
func flood(t *testing.T, head, more string) *Client {
	p := newProvider(t)
	p.Server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, head)
		block := strings.Repeat(more, 1+64<<10/len(more))
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	})
	return client(t, p, nil)
}

// guarantee 5 of package model
func TestAnEndlessAnswerIsANamedErrorAndMemoryStaysBounded(t *testing.T) {
	big := strings.Repeat("x", 4000)
	piece := func(member string) string { return `data: {"choices":[{"delta":{` + member + `}}]}` + "\n\n" }
	for name, c := range map[string]struct{ head, more, want string }{
		"text":          {"", piece(`"content":"` + big + `"`), "longer than 8 MiB"},
		"reasoning":     {"", piece(`"reasoning":"` + big + `"`), "longer than 8 MiB"},
		"details":       {"", piece(`"reasoning_details":["` + big + `"]`), "longer than 8 MiB"},
		"refusal":       {"", piece(`"refusal":"` + big + `"`), "longer than 8 MiB"},
		"arguments":     {"", piece(`"tool_calls":[{"index":0,"function":{"arguments":"` + big + `"}}]`), "longer than 8 MiB"},
		"names":         {"", piece(`"tool_calls":[{"index":0,"function":{"name":"x"}}]`) + piece(`"tool_calls":[{"index":0,"function":{"name":"yy"}}]`), "name of more than 1024 bytes"},
		"ids":           {"", piece(`"tool_calls":[{"index":0,"id":"` + big + `"}]`), "longer than 8 MiB"},
		"a line":        {"data: ", "x", "longer than 8 MiB"},
		"a comment":     {": ", "x", "longer than 8 MiB"},
		"data lines":    {"", "data: " + big + "\n", "longer than 8 MiB"},
		"one JSON":      {`{"choices":"`, "x", "longer than 8 MiB"},
		"empty events":  {"", piece(""), "100000 events in a row"},
		"empty objects": {"", "data: {}\n\n", "100000 events in a row"},
	} {
		t.Run(name, func(t *testing.T) {
			client := flood(t, c.head, c.more)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, _, err := ask(context.Background(), client, nil)
			runtime.GC()
			runtime.ReadMemStats(&after)
			isFailure(t, err, event.CodeProvider, false, c.want)
			if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 4<<20 {
				t.Errorf("%d bytes are kept afterwards", kept)
			}
		})
	}
}

func TestCallsWithoutEndAreANamedError(t *testing.T) {
	var b strings.Builder
	for i := range maxCalls + 1 {
		fmt.Fprintf(&b, `data: {"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"Read","arguments":"{}"}}]}}]}`+"\n\n", i, i)
	}
	p := newProvider(t, scripted{Status: 200, Body: b.String() + finish})
	_, _, err := ask(context.Background(), client(t, p, nil), nil)
	isFailure(t, err, event.CodeProvider, false, "more than 1024 tool calls")
}

// A23, through the whole client
func TestA23AHugeLineWithinTheCapPassesAndBeyondItIsANamedError(t *testing.T) {
	for _, size := range []int{65_535, 65_537, 1<<20 + 1, 5 << 20} {
		args := `{"a":"` + strings.Repeat("x", size) + `"}`
		body := fmt.Sprintf(`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"Read","arguments":%q}}]},"finish_reason":"tool_calls"}]}`+"\n\n", args)
		p := newProvider(t, scripted{Status: 200, Body: word(strings.Repeat("y", size/2)) + body})
		reply, _, err := ask(context.Background(), client(t, p, nil), nil)
		if err != nil || len(reply.Text) != size/2 || len(reply.Calls) != 1 || string(reply.Calls[0].Args) != args {
			t.Errorf("%d bytes: %d bytes of text, %d calls, %v", size, len(reply.Text), len(reply.Calls), err)
		}
	}
	p := newProvider(t, scripted{Status: 200, Body: word(strings.Repeat("y", 64<<20))})
	_, _, err := ask(context.Background(), client(t, p, nil), func(model.Delta) { t.Error("a delta") })
	isFailure(t, err, event.CodeProvider, false, "longer than 8 MiB")
}

// A18: a megabyte of valid arguments, and ten thousand levels of nesting.
func TestA18BigArgumentsRunAndDeepOnesAreTold(t *testing.T) {
	for _, c := range []struct {
		args, why string
	}{
		{`{"a":"` + strings.Repeat("x", 1<<20) + `"}`, ""},
		{`{"a":[` + strings.Repeat(`{"n":1.50},`, 1<<17) + `0]}`, ""},
		{`{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`, "deeper than 256 levels"},
		{strings.Repeat("[", 20_000), "deeper than 256 levels"},
		{strings.Repeat(`{"a":`, piece.MaxDepth) + "1" + strings.Repeat("}", piece.MaxDepth), ""},
		{strings.Repeat(`{"a":`, piece.MaxDepth+1) + "1" + strings.Repeat("}", piece.MaxDepth+1), "deeper than 256 levels"},
		{`{"brackets in strings":"` + strings.Repeat("[{", 1000) + `\"["}`, ""},
	} {
		body := fmt.Sprintf(`data: {"choices":[{"delta":{"tool_calls":[{"id":"c","function":{"name":"Read","arguments":%q}}]},"finish_reason":"tool_calls"}]}`+"\n\n", c.args)
		p := newProvider(t, scripted{Status: 200, Body: body})
		reply, _, err := ask(context.Background(), client(t, p, nil), nil)
		if err != nil || len(reply.Calls) != 1 {
			t.Fatalf("%.40s: %v", c.args, err)
		}
		call := reply.Calls[0]
		if c.why == "" && (call.ArgsError != "" || string(call.Args) != c.args) {
			t.Errorf("%.40s: %s", c.args, call.ArgsError)
		}
		if c.why != "" && (!strings.Contains(call.ArgsError, c.why) || string(call.Args) != "{}" || len(call.ArgsError) > 400) {
			t.Errorf("%.40s: %s, %.40s", c.args, call.ArgsError, call.Args)
		}
	}
}
