package files

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"hitchpost/turn/tool"
)

const (
	diffContext    = 3        // lines shown around a change
	diffLines      = 300      // of a diff that are shown
	diffLineLength = 300      // characters of a line of it
	diffBytes      = 10 << 10 // of a diff as it stands in its hint, which has a bound of its own
)

// changed is the answer of a tool that has changed a file: a sentence for the model,
// the difference for people.
func changed(text, title string, t *target, after string) tool.Result {
	res := tool.Text(text)
	diff, added, removed := difference(t.name(), t.text, after)
	title, _ = clip([]byte(title), maxTitle)
	res.Display, _ = json.Marshal(map[string]string{ // strings always encode
		"kind": "tool", "renderer": "diff", "title": title, "summary": fmt.Sprintf("+%d −%d", added, removed), "text": diff,
	})
	return res
}

// difference is a unified diff, cut where it is long, and how many lines came and went.
func difference(name, before, after string) (text string, added, removed int) {
	if before == after {
		return "", 0, 0
	}
	diff, err := udiff.ToUnifiedDiff(name, name, before, udiff.Lines(before, after), diffContext)
	if err != nil {
		return "", 0, 0 // edits of its own making always apply
	}
	for _, h := range diff.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			}
		}
	}
	return shorten(diff.String()), added, removed
}

// shorten keeps the first lines of a diff, and the beginning of each. Bytes are
// counted as JSON has them.
func shorten(diff string) string {
	var b strings.Builder
	size, n := 0, 0
	for line := range strings.Lines(diff) {
		body, end := strings.CutSuffix(line, "\n")
		text, cut := clip([]byte(body), diffLineLength)
		if cut {
			text += "…"
		}
		encoded, _ := json.Marshal(text) // a string always encodes
		if size += len(encoded); n == diffLines || size > diffBytes {
			fmt.Fprintf(&b, "[%d more lines]\n", strings.Count(diff, "\n")-n)
			break
		}
		n++
		b.WriteString(text)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
