package files

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"hitchpost/turn/tool"
)

// maxOutput is how many bytes of text a call answers with, about; notes come on top.
const maxOutput = 128 << 10

const maxTitle = 120 // characters

// Tools are Read, Glob and Grep over the workspace, which change nothing, never ask,
// run beside each other and may run again, and Write and Edit, which do the opposite.
func (w *Workspace) Tools() []tool.Tool {
	return append(w.lookers(), w.changers()...)
}

func (w *Workspace) lookers() []tool.Tool {
	all := []tool.Tool{
		{Name: "Read", Description: readDescription, Schema: json.RawMessage(readSchema), Run: w.read},
		{Name: "Glob", Description: globDescription, Schema: json.RawMessage(globSchema), Run: w.glob},
		{Name: "Grep", Description: grepDescription, Schema: json.RawMessage(grepSchema), Run: w.grep},
	}
	for i := range all {
		all[i].Approval, all[i].Parallel, all[i].Repeatable = tool.Never, true, true
	}
	return all
}

func (w *Workspace) changers() []tool.Tool {
	all := []tool.Tool{
		{Name: "Write", Description: writeDescription, Schema: json.RawMessage(writeSchema), Run: w.write},
		{Name: "Edit", Description: editDescription, Schema: json.RawMessage(editSchema), Run: w.edit},
	}
	for i := range all {
		all[i].Approval, all[i].Mutating = tool.ByPolicy, true
	}
	return all
}

// answer is a text with its rendering hint.
func answer(text, title, summary string) tool.Result {
	res := tool.Text(text)
	title, _ = clip([]byte(title), maxTitle)
	res.Display, _ = json.Marshal(map[string]string{ // strings always encode
		"kind": "tool", "renderer": "text", "title": title, "summary": summary,
	})
	return res
}

func fail(err error) tool.Result { return tool.Fail(err.Error()) }

// whole is an integer argument as JSON schema means it: 7, 7.0 and 7e2. What no int
// holds becomes the nearest one.
type whole int

func (n *whole) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	switch {
	case f >= math.MaxInt32: // ±Inf comes with an error of its range
		*n = math.MaxInt32
	case f <= math.MinInt32:
		*n = math.MinInt32
	case err != nil || f != math.Trunc(f):
		return fmt.Errorf("%s is no integer", b)
	default:
		*n = whole(f)
	}
	return nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
