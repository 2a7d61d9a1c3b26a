package files

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"hitchpost/turn/tool"
)

const writeDescription = `Writes a text file of the workspace: makes it, and the directories on the way, or replaces all of it. ` +
	`To change a part of a file use Edit.`

const writeSchema = `{"type":"object","additionalProperties":false,"required":["file_path","content"],"properties":{
"file_path":{"type":"string","minLength":1,"description":"The file: a path in the workspace, or an absolute one"},
"content":{"type":"string","description":"The whole content"}}}`

type writeArgs struct {
	Path    string `json:"file_path"`
	Content string `json:"content"`
}

func (w *Workspace) write(ctx context.Context, call tool.Call) tool.Result {
	var args writeArgs
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return fail(err)
	}
	switch {
	case strings.ContainsRune(args.Content, 0):
		return tool.Fail("content holds a NUL: only text can be written")
	case len(args.Content) > maxFile:
		return tool.Fail(fmt.Sprintf("content has %d bytes: a file may have %d MiB", len(args.Content), maxFile>>20))
	case strings.HasSuffix(args.Path, "/"):
		return tool.Fail(args.Path + " is a directory's path: give the file's")
	}
	p, err := w.find(args.Path)
	if err != nil {
		return fail(err)
	}
	t, err := w.target(p, true)
	if err != nil {
		return fail(err)
	}
	defer t.close()
	done := "Replaced"
	switch {
	case t.info == nil:
		done = "Created"
	case t.text == args.Content:
		return answer(t.name()+" holds exactly this already.", "Write "+t.name(), "nothing to change")
	}
	if err := t.replace(ctx, args.Content); err != nil {
		return fail(err)
	}
	text := fmt.Sprintf("%s %s: %s.", done, t.name(), plural(countLines(args.Content), "line"))
	return changed(text+endingsNote(t.text, args.Content), "Write "+t.name(), t, args.Content)
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// endingsNote tells of a change that Read does not show well.
func endingsNote(before, after string) string {
	if mostlyCRLF(before) && strings.Contains(after, "\n") && !mostlyCRLF(after) {
		return "\n[its lines ended with CRLF before, and end with LF now]"
	}
	return ""
}

// mostlyCRLF tells whether more lines end with CRLF than with LF alone.
func mostlyCRLF(text string) bool {
	return 2*strings.Count(text, "\r\n") > strings.Count(text, "\n")
}
