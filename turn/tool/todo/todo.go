package todo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"hitchpost/turn/tool"
)

const (
	maxItems  = 200      // of a list
	hintBytes = 12 << 10 // of the items in a hint, as JSON, which has a bound of its own
	hintItem  = 300      // characters of an item in a hint
)

const description = `Keeps the list of what is to be done in this conversation; each call replaces all of it. ` +
	`Use it for work of several steps: mark an item in_progress before you begin it and completed as soon as it is done.`

var schema = fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["todos"],"properties":{
"todos":{"type":"array","maxItems":%d,"description":"The whole list","items":{"type":"object","additionalProperties":false,"required":["content","status"],"properties":{
"content":{"type":"string","minLength":1,"description":"What is to be done, such as: Run the tests"},
"status":{"type":"string","enum":["pending","in_progress","completed"]},
"activeForm":{"type":"string","description":"The same while it is being done, such as: Running the tests"}}}}}}`, maxItems)

type item struct {
	Content    string `json:"content"`
	Status     string `json:"status"`
	ActiveForm string `json:"activeForm,omitempty"`
}

// display is the hint, a display of the run wire with the list in extra.
type display struct {
	Kind     string `json:"kind"`
	Renderer string `json:"renderer"`
	Title    string `json:"title"`
	Summary  string `json:"summary"`
	Extra    extra  `json:"extra"`
}

type extra struct {
	Todos []item `json:"todos"`
	More  int    `json:"more,omitempty"` // items that are left out
}

// Tool is TodoWrite.
func Tool() tool.Tool {
	return tool.Tool{
		Name: "TodoWrite", Description: description, Schema: json.RawMessage(schema),
		Approval: tool.Never, Repeatable: true, Run: run,
	}
}

func run(_ context.Context, call tool.Call) tool.Result {
	var args struct {
		Todos []item `json:"todos"`
	}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return tool.Fail(err.Error())
	}
	count := map[string]int{}
	for i, it := range args.Todos {
		if strings.TrimSpace(it.Content) == "" {
			return tool.Fail(fmt.Sprintf("todos[%d].content is blank: say what is to be done", i))
		}
		count[it.Status]++
	}
	n := len(args.Todos)
	text := "The list is empty."
	if n > 0 {
		text = fmt.Sprintf("The list has %d items: %d completed, %d in progress, %d pending.",
			n, count["completed"], count["in_progress"], count["pending"])
	}
	res := tool.Text(text)
	res.Display, _ = json.Marshal(display{ // strings always encode
		Kind: "tool", Renderer: "todo", Title: "To do", Summary: fmt.Sprintf("%d of %d done", count["completed"], n), Extra: shown(args.Todos),
	})
	return res
}

// shown is what of a list fits in a hint.
func shown(todos []item) extra {
	out := extra{Todos: []item{}}
	size := 0
	for i, it := range todos {
		it.Content, it.ActiveForm = cut(it.Content), cut(it.ActiveForm)
		encoded, _ := json.Marshal(it)
		if size += len(encoded); size > hintBytes {
			out.More = len(todos) - i
			break
		}
		out.Todos = append(out.Todos, it)
	}
	return out
}

func cut(s string) string {
	if utf8.RuneCountInString(s) <= hintItem {
		return s
	}
	return string([]rune(s)[:hintItem]) + "…"
}
