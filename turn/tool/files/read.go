package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"hitchpost/turn/tool"
)

const (
	readLines      = 2000 // shown unless limit says otherwise
	readLineLength = 2000 // characters of a line that are shown
)

const readDescription = `Reads a text file of the workspace. Each line comes with its number and a tab before it. ` +
	`Without offset and limit the first 2000 lines are shown; lines over 2000 characters are cut.`

const readSchema = `{"type":"object","additionalProperties":false,"required":["file_path"],"properties":{
"file_path":{"type":"string","minLength":1,"description":"The file: a path in the workspace, or an absolute one"},
"offset":{"type":"integer","minimum":0,"description":"The number of the first line to show; the first line is 1"},
"limit":{"type":"integer","minimum":1,"description":"How many lines to show, 2000 if left out"}}}`

type readArgs struct {
	Path   string `json:"file_path"`
	Offset whole  `json:"offset"`
	Limit  whole  `json:"limit"`
}

func (w *Workspace) read(ctx context.Context, call tool.Call) tool.Result {
	args := readArgs{Limit: readLines}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return fail(err)
	}
	p, err := w.find(args.Path)
	if err != nil {
		return fail(err)
	}
	f, info, err := w.open(p)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	name := w.show(p)
	if info.IsDir() {
		return tool.Fail(name + " is a directory: list it with Glob")
	}
	l := newLines(ctx, f, 4*readLineLength) // a character has at most 4 bytes
	if why := notText(l.head()); why != "" {
		return tool.Fail(name + " is " + why)
	}
	text, shown, err := page(l, max(1, int(args.Offset)), int(args.Limit))
	if err != nil {
		return fail(fmt.Errorf("%s cannot be read: %w", name, reason(err)))
	}
	return answer(text, "Read "+name, plural(shown, "line"))
}

// page writes the lines from number first on, numbered, and how many they are.
func page(l *lines, first, limit int) (text string, shown int, err error) {
	var b strings.Builder
	for n := 1; ; n++ {
		line, size, err := l.next()
		switch {
		case err == io.EOF && n == 1:
			return "(the file is empty)", 0, nil
		case err == io.EOF && n <= first:
			return "", 0, fmt.Errorf("offset %d is behind the end, it has %s", first, plural(n-1, "line"))
		case err == io.EOF:
			return b.String() + note(l), shown, nil
		case errors.Is(err, errBinary) && shown > 0: // a torn log, say: its text is worth having
			fmt.Fprintf(&b, "[line %d holds a NUL byte; the file is not read beyond it]\n", n)
			return b.String() + note(l), shown, nil
		case errors.Is(err, errBinary):
			return "", 0, fmt.Errorf("line %d holds a NUL byte, and the file is not read beyond it", n)
		case err != nil:
			return "", 0, err
		case n < first:
			continue
		case shown == limit || b.Len() >= maxOutput:
			fmt.Fprintf(&b, "[lines %d to %d are shown and there are more: go on with offset %d]\n", first, n-1, n)
			return b.String() + note(l), shown, nil
		}
		part, cut := clip(line, readLineLength)
		fmt.Fprintf(&b, "%6d\t%s", n, part)
		if cut || size > len(line) {
			fmt.Fprintf(&b, "… [line cut: it has %d bytes]", size)
		}
		b.WriteByte('\n')
		shown++
	}
}

// note tells what the numbered lines do not show.
func note(l *lines) string {
	if l.crlf {
		return "[lines of this file end with CRLF]\n"
	}
	return ""
}
