package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hitchpost/turn/tool"
)

const editDescription = `Replaces a passage of a text file of the workspace. old_string must stand in the file exactly so, white space ` +
	`included and the line numbers of Read left out, and only once, unless replace_all is set. Line ends are taken as the file has them.`

const editSchema = `{"type":"object","additionalProperties":false,"required":["file_path","old_string","new_string"],"properties":{
"file_path":{"type":"string","minLength":1,"description":"The file: a path in the workspace, or an absolute one"},
"old_string":{"type":"string","minLength":1,"description":"The passage to replace, with enough around it to be the only one"},
"new_string":{"type":"string","description":"What to put in its place"},
"replace_all":{"type":"boolean","description":"Replace every such passage"}}}`

type editArgs struct {
	Path string `json:"file_path"`
	Old  string `json:"old_string"`
	New  string `json:"new_string"`
	All  bool   `json:"replace_all"`
}

func (w *Workspace) edit(ctx context.Context, call tool.Call) tool.Result {
	var args editArgs
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return fail(err)
	}
	p, err := w.find(args.Path)
	if err != nil {
		return fail(err)
	}
	t, err := w.target(p, false)
	if err != nil {
		return fail(err)
	}
	defer t.close()
	after, n, err := args.apply(t.text)
	if err != nil {
		return fail(fmt.Errorf("%s is as it was: %w", t.name(), err))
	}
	if err := t.replace(ctx, after); err != nil {
		return fail(err)
	}
	return changed(fmt.Sprintf("Edited %s: %s replaced.", t.name(), plural(n, "passage")), "Edit "+t.name(), t, after)
}

const bom = "\uFEFF"

// apply returns the text with the passage replaced, and how often. A byte order mark
// stays where it is, whether or not the passages begin with one.
func (a editArgs) apply(text string) (after string, n int, err error) {
	body := strings.TrimPrefix(text, bom)
	mark := text[:len(text)-len(body)]
	old, by := strings.TrimPrefix(a.Old, bom), strings.TrimPrefix(a.New, bom)
	switch {
	case old == by:
		return "", 0, errors.New("old_string and new_string are the same")
	case old == "":
		return "", 0, errors.New("old_string is nothing but a byte order mark")
	case strings.ContainsRune(by, 0):
		return "", 0, errors.New("new_string holds a NUL: only text can be written")
	}
	if !strings.Contains(old+by, "\r\n") {
		old, by = asLinesEnd(body, old, by)
	}
	at := strings.Index(body, old)
	if at < 0 {
		return "", 0, errors.New("old_string does not stand in it" + nearMiss(body, a.Old))
	}
	n = strings.Count(body, old)
	if again := strings.Index(body[at+1:], old); again >= 0 && !a.All {
		return "", 0, ambiguous(body, old)
	}
	if size := len(text) + n*(len(by)-len(old)); size > maxFile {
		return "", 0, fmt.Errorf("it would have %d bytes: a file may have %d MiB", size, maxFile>>20)
	}
	return mark + strings.ReplaceAll(body, old, by), n, nil
}

// asLinesEnd gives passages that end lines with LF alone the line ends of the file,
// which Read does not show. In a file that has both kinds the passage found decides.
func asLinesEnd(body, old, by string) (string, string) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	plain, other := strings.Contains(body, old), strings.Contains(body, crlf(old))
	if other && (!plain || mostlyCRLF(body)) { // LF alone is found in CRLF as well, but is half of it
		return crlf(old), crlf(by)
	}
	return old, by
}

func ambiguous(body, old string) error {
	const shown = 5
	var lines []string
	n := 0
	for at := 0; ; n++ {
		i := strings.Index(body[at:], old)
		if i < 0 {
			break
		}
		if at += i; n < shown {
			lines = append(lines, fmt.Sprint(lineNumber(body, at)))
		}
		at++
	}
	if n > shown {
		lines = append(lines, "…")
	}
	return fmt.Errorf("old_string stands in it %d times (lines %s): add what is around the one you mean, or set replace_all", n, strings.Join(lines, ", "))
}

// lineNumber is the number of the line that the byte at this place belongs to.
func lineNumber(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
