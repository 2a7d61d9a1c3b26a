package demo

import "strings"

// parseReplace reads OLD with NEW in FILE.
func parseReplace(rest string) (wanted, bool) {
	before, file, found := cutLast(rest, " in ")
	old, fresh, split := strings.Cut(before, " with ")
	file, _ = operand(file)
	old, fresh = unquoted(old), unquoted(fresh)
	args := map[string]any{"file_path": file, "old_string": old, "new_string": fresh}
	return wanted{"Edit", fixed(args)}, found && split && old != "" && file != ""
}

// parseWrite reads TEXT to FILE. The file gets the text as one line.
func parseWrite(rest string) (wanted, bool) {
	text, file, found := cutLast(rest, " to ")
	file, _ = operand(file)
	args := map[string]any{"file_path": file, "content": unquoted(text) + "\n"}
	return wanted{"Write", fixed(args)}, found && file != ""
}

// parseTask hands TEXT to a subagent.
func parseTask(text string) (wanted, bool) {
	name, _ := firstWord(text)
	return wanted{"Task", fixed(map[string]any{"description": name, "prompt": text})}, text != ""
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}
