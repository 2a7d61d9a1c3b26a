package demo

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"hitchpost/turn/model"
)

// maxThoughts bounds think N.
const maxThoughts = 100_000

// request is what a message asks for.
type request struct {
	calls    []wanted
	question string // what is to be said of the results, lower case
	thoughts int
	digest   bool
	wrong    string // why it cannot be done, to be said
}

// wanted is a call that the message asks for.
type wanted struct {
	tool string
	args func(model.Tool) json.RawMessage // fitted to the schema of the tool
}

// parse reads a message by the grammar in introduction.
func parse(text string) request {
	text = strings.TrimSpace(text)
	for _, polite := range []string{"please ", "now ", "can you ", "could you ", "please "} {
		text = strings.TrimSpace(cutWord(text, polite))
	}
	verb, rest := split(text)
	switch verb {
	case "both":
		return parseBoth(rest)
	case "think":
		n, err := strconv.Atoi(strings.Trim(rest, " .!"))
		if err != nil || n < 1 || n > maxThoughts {
			return request{wrong: "think takes a number from 1 to " + strconv.Itoa(maxThoughts) + ", as in: think 20"}
		}
		return request{thoughts: n}
	}
	if w, question, ok := parseCall(verb, rest); ok {
		return request{calls: []wanted{w}, question: strings.ToLower(question)}
	}
	return request{digest: strings.Contains(strings.ToLower(text), "summar")}
}

// parseBoth splits at the first "and" behind which a command stands.
func parseBoth(text string) request {
	const and = " and "
	for at := 0; ; {
		i := strings.Index(text[at:], and)
		if i < 0 {
			return request{wrong: "both takes two commands, as in: both read README.md and list *.go"}
		}
		at += i
		firstVerb, firstRest := split(text[:at])
		secondVerb, secondRest := split(text[at+len(and):])
		first, _, ok1 := parseCall(firstVerb, firstRest)
		second, question, ok2 := parseCall(secondVerb, secondRest)
		if ok1 && ok2 {
			return request{calls: []wanted{first, second}, question: strings.ToLower(question)}
		}
		at += len(and)
	}
}

// parseCall reads what stands behind a verb. question is what is left over.
func parseCall(verb, rest string) (w wanted, question string, ok bool) {
	if rest == "" && verb != "list" {
		return w, "", false
	}
	switch verb {
	case "read":
		file, question := operand(cutWord(cutWord(rest, "the "), "file "))
		return wanted{"Read", fixed(map[string]any{"file_path": file})}, question, file != ""
	case "list":
		pattern, question := operand(cutWord(cutWord(cutWord(rest, "all "), "files "), "matching "))
		if pattern == "" || pattern == "files" || pattern == "all" {
			pattern = "**/*"
		}
		return wanted{"Glob", fixed(map[string]any{"pattern": pattern})}, question, true
	case "search", "grep":
		return parseSearch(cutWord(rest, "for "))
	case "run":
		return wanted{"Bash", fixed(map[string]any{"command": unquoted(rest)})}, "", true
	case "replace":
		w, ok := parseReplace(rest)
		return w, "", ok
	case "write":
		w, ok := parseWrite(rest)
		return w, "", ok
	case "delegate":
		w, ok := parseTask(rest)
		return w, "", ok
	case "fetch":
		url, question := operand(rest)
		if !strings.Contains(url, "://") {
			url = "https://" + url
		}
		return wanted{"WebFetch", fetch(url)}, question, true
	case "plan":
		steps := planSteps(rest)
		return wanted{"TodoWrite", todos(steps)}, "", len(steps) > 0
	}
	return w, "", false
}

// parseSearch reads PATTERN [in PATH].
func parseSearch(rest string) (wanted, string, bool) {
	pattern, path := rest, ""
	if i := strings.LastIndex(rest, " in "); i > 0 {
		pattern = rest[:i]
		path, _ = operand(rest[i+len(" in "):])
	}
	pattern = unquoted(pattern)
	args := func(t model.Tool) json.RawMessage {
		m := map[string]any{"pattern": pattern}
		if path != "" {
			m["path"] = path
		}
		if takes(t, "output_mode") {
			m["output_mode"] = "content"
		}
		return object(m)
	}
	return wanted{"Grep", args}, "", pattern != ""
}

func fetch(url string) func(model.Tool) json.RawMessage {
	return func(t model.Tool) json.RawMessage {
		m := map[string]any{"url": url}
		if takes(t, "prompt") {
			m["prompt"] = "Return the page as it is."
		}
		return object(m)
	}
}

func todos(steps []string) func(model.Tool) json.RawMessage {
	return func(t model.Tool) json.RawMessage {
		list := make([]map[string]any, len(steps))
		for i, s := range steps {
			list[i] = map[string]any{"content": s, "status": "pending"}
			if takes(t, "activeForm") {
				list[i]["activeForm"] = s
			}
		}
		return object(map[string]any{"todos": list})
	}
}

// planSteps takes a plan apart at semicolons and line ends, or else at commas.
func planSteps(text string) []string {
	text = strings.TrimPrefix(text, ":")
	seps := ",\n"
	if strings.ContainsAny(text, ";\n") {
		seps = ";\n"
	}
	var steps []string
	for s := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(seps, r) }) {
		if s = strings.Trim(s, " \t\r.-*"); s != "" {
			steps = append(steps, s)
		}
	}
	return steps
}

// fixed ignores the tool's schema.
func fixed(args map[string]any) func(model.Tool) json.RawMessage {
	return func(model.Tool) json.RawMessage { return object(args) }
}

// object writes arguments; the keys of a map are sorted, so the bytes are the same each time.
func object(args map[string]any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(args) // strings, and lists and maps of them, always encode
	return bytes.TrimSpace(b.Bytes())
}

// takes tells whether a tool's schema names a member.
func takes(t model.Tool, member string) bool {
	return bytes.Contains(t.Schema, []byte(`"`+member+`"`))
}

// split takes the first word off, in lower case.
func split(text string) (verb, rest string) {
	verb, rest = firstWord(text)
	return strings.ToLower(strings.TrimRight(verb, ":,")), rest
}

// firstWord is what stands before the first white space, and what behind it.
func firstWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if at := strings.IndexFunc(text, unicode.IsSpace); at > 0 {
		return text[:at], strings.TrimSpace(text[at:])
	}
	return text, ""
}

// cutWord takes a leading word off, in any case of letters.
func cutWord(text, word string) string {
	if len(text) >= len(word) && strings.EqualFold(text[:len(word)], word) {
		return text[len(word):]
	}
	return text
}

// operand takes a file, a pattern or an address off the front: what is quoted, or one
// word without the punctuation of the sentence around it.
func operand(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if text != "" && strings.ContainsRune("\"'`", rune(text[0])) {
		if end := strings.IndexByte(text[1:], text[0]); end > 0 {
			return text[1 : 1+end], strings.TrimSpace(text[2+end:])
		}
	}
	word, rest = firstWord(text)
	return strings.TrimRight(word, ".,;:!?"), rest
}

// unquoted takes quotes off that surround the whole text.
func unquoted(text string) string {
	text = strings.TrimSpace(text)
	if n := len(text); n > 2 && text[0] == text[n-1] && strings.ContainsRune("\"'`", rune(text[0])) && strings.Count(text, text[:1]) == 2 {
		return text[1 : n-1]
	}
	return text
}
