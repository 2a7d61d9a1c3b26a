package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"hitchpost/turn/model"
)

const (
	shownLines = 8   // of a result that is shown, not all of it
	shownRunes = 160 // of one such line
)

// result is a call and what came of it.
type result struct {
	call   model.Call
	text   string
	failed bool
}

// results pairs the newest calls with their results; nil while there are none.
func results(since []model.Message) []result {
	var out []result
	for _, m := range since {
		if len(m.Calls) > 0 {
			out = out[:0]
			for _, c := range m.Calls {
				out = append(out, result{call: c, text: "no result came", failed: true})
			}
		}
		if m.Role != model.ToolRole {
			continue
		}
		for i := range out {
			if out[i].call.ID == m.CallID {
				out[i].text, out[i].failed = m.Text, m.IsError
			}
		}
	}
	return out
}

// answer says what came of each call, in their order.
func answer(asked request, done []result) string {
	said := make([]string, len(done))
	for i, r := range done {
		said[i] = describe(asked.question, r)
	}
	return strings.Join(said, "\n\n")
}

func describe(question string, r result) string {
	if r.failed {
		return fmt.Sprintf("%s did not work: %s", r.call.Name, strings.TrimPrefix(r.text, "Error: "))
	}
	switch r.call.Name {
	case "Read":
		return describeFile(question, arg(r.call, "file_path"), r.text)
	case "Glob":
		files := entries(r.text)
		verb := "match"
		if len(files) == 1 {
			verb = "matches"
		}
		return fmt.Sprintf("%s %s %s.%s", plural(len(files), "file"), verb, arg(r.call, "pattern"), shown(files))
	case "Grep":
		found := entries(r.text)
		return fmt.Sprintf("The search for %s found %s.%s", arg(r.call, "pattern"), plural(len(found), "line"), shown(found))
	case "Edit", "Write":
		return fmt.Sprintf("%s is changed.", arg(r.call, "file_path"))
	case "Task":
		return "The subagent says: " + r.text
	case "Bash":
		if lines := nonEmpty(r.text); len(lines) > 0 {
			return fmt.Sprintf("The command printed %s.%s", plural(len(lines), "line"), shown(lines))
		}
		return "The command printed nothing."
	case "WebFetch":
		return fmt.Sprintf("The page %s came back with %s.%s", arg(r.call, "url"), plural(len(strings.Fields(r.text)), "word"), shown(nonEmpty(r.text)))
	case "TodoWrite":
		var plan struct{ Todos []json.RawMessage }
		json.Unmarshal(r.call.Args, &plan)
		return fmt.Sprintf("The plan is written down, with %s.", plural(len(plan.Todos), "step"))
	}
	return fmt.Sprintf("%s returned %s.", r.call.Name, plural(len(strings.Fields(r.text)), "word"))
}

// describeFile answers what was asked about a file, else it shows the file's start.
func describeFile(question, file, text string) string {
	lines, notes := unnumbered(text)
	heading, found := firstHeading(lines)
	said := fmt.Sprintf("%s came back with %s.", file, plural(len(lines), "line"))
	switch {
	case strings.Contains(question, "heading") && found:
		said = fmt.Sprintf("The first heading of %s is: %s", file, heading)
	case strings.Contains(question, "heading"):
		said = fmt.Sprintf("There is no heading in what came back of %s.", file)
	case !strings.Contains(question, "line"):
		said += shown(lines)
	}
	if len(notes) > 0 {
		said += "\n\nThe tool adds: " + strings.Join(notes, " ")
	}
	return said
}

// numbered is a line as Read returns it.
var numbered = regexp.MustCompile(`^\s*\d+(→|\t)`)

// unnumbered gives the lines of a file without the numbers that Read put before them,
// and apart from these what it had to say itself.
func unnumbered(text string) (lines, notes []string) {
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\r\n")
		if at := numbered.FindStringIndex(l); at != nil {
			lines = append(lines, l[at[1]:])
		} else if isNote(l) {
			notes = append(notes, l)
		} else if l != "" {
			lines = append(lines, l) // of a tool that does not number
		}
	}
	return lines, notes
}

// isNote tells whether a line is a tool's own remark: they stand in brackets.
func isNote(line string) bool {
	return strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") || strings.HasPrefix(line, "(") && strings.HasSuffix(line, ")")
}

var (
	hashHeading = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$`)
	fence       = regexp.MustCompile("^ {0,3}(```|~~~)")
	underline   = regexp.MustCompile(`^ {0,3}(=+|-{2,})\s*$`)
)

// firstHeading finds the first Markdown heading outside a code block.
func firstHeading(lines []string) (string, bool) {
	inCode := false
	for i, l := range lines {
		if fence.MatchString(l) {
			inCode = !inCode
		}
		if inCode {
			continue
		}
		if m := hashHeading.FindStringSubmatch(l); m != nil {
			return m[1], true
		}
		if i > 0 && underline.MatchString(l) && strings.TrimSpace(lines[i-1]) != "" && !fence.MatchString(lines[i-1]) {
			return strings.TrimSpace(lines[i-1]), true
		}
	}
	return "", false
}

// entries are the lines of a listing, without what a tool says about it.
func entries(text string) []string {
	var out []string
	for _, l := range nonEmpty(text) {
		if !isNote(l) && !strings.HasPrefix(l, "No file") && !strings.HasPrefix(l, "No match") {
			out = append(out, l)
		}
	}
	return out
}

func nonEmpty(text string) []string {
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.TrimRight(l, "\r\n"); strings.TrimSpace(l) != "" {
			out = append(out, l)
		}
	}
	return out
}

// shown is the start of some lines, as a block of its own.
func shown(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n")
	for _, l := range lines[:min(len(lines), shownLines)] {
		b.WriteString("    " + short(l) + "\n")
	}
	if more := len(lines) - shownLines; more > 0 {
		fmt.Fprintf(&b, "    … and %d more", more)
	}
	return strings.TrimRight(b.String(), "\n")
}

func short(s string) string {
	if r := []rune(s); len(r) > shownRunes {
		return string(r[:shownRunes]) + "…"
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func arg(c model.Call, name string) string {
	var args map[string]any
	json.Unmarshal(c.Args, &args)
	s, _ := args[name].(string)
	return s
}

// digest stands in for a summary, so that a conversation with this model can be
// compacted: it counts and quotes.
func digest(history []model.Message) string {
	var asked []string
	answers := 0
	for _, m := range history {
		switch m.Role {
		case model.User:
			asked = append(asked, strings.Join(strings.Fields(m.Text), " "))
		case model.ToolRole:
			answers++
		}
	}
	return fmt.Sprintf("A digest by demo/guide, which counts and quotes and understands nothing: %s and %s came before.%s",
		plural(len(asked), "user message"), plural(answers, "tool result"), shown(asked))
}

// introduction says what this is, and the grammar.
func introduction(tools []model.Tool) string {
	return `demo/guide is not intelligent. It is a small program inside Hitchpost that answers offline, so that everything can be tried without a key. It knows these words:

- read FILE [and tell me the first heading]
- list PATTERN
- search PATTERN in PATH
- replace OLD with NEW in FILE
- write TEXT to FILE
- run COMMAND
- fetch URL
- plan STEP, STEP, STEP
- delegate TEXT, which a subagent does
- both ONE and ANOTHER of these, as two calls at once
- think N, a long answer in N pieces
- summarise, which counts and quotes

` + mounted(tools) + ` For real answers, configure a provider and choose its model.`
}

func mounted(tools []model.Tool) string {
	if len(tools) == 0 {
		return "No tool is mounted."
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return "Mounted tools: " + strings.Join(names, ", ") + "."
}
