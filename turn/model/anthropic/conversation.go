package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"hitchpost/turn/model"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"

	// noText stands where a message of the user would have nothing in it: the wire
	// refuses blank texts and empty messages alike.
	noText = "(no text)"
	// noReason stands for the text of a failed call that has none; the wire asks for one.
	noReason = "failed"
)

// conversation gives the history as the wire asks for it (guarantee 5).
func conversation(history []model.Message) []message {
	out := []message{}
	ids := newCallIDs()
	for i := range history {
		m := &history[i]
		role, blocks := roleUser, []content(nil)
		switch m.Role {
		case model.Assistant:
			role, blocks = roleAssistant, said(m, ids)
			if len(blocks) == 0 {
				continue
			}
		case model.ToolRole:
			blocks = []content{result(m, ids)}
		default:
			blocks = appendText(nil, m.Text)
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			continue
		}
		out = append(out, message{role, blocks})
	}
	for i := range out {
		m := &out[i]
		if m.Role != roleUser {
			continue
		}
		if len(m.Content) == 0 {
			m.Content = []content{{Type: typeText, Text: noText}}
		}
		slices.SortStableFunc(m.Content, func(a, b content) int { return rank(a) - rank(b) })
	}
	return out
}

// rank puts results before texts.
func rank(c content) int {
	if c.Type == typeResult {
		return 0
	}
	return 1
}

func appendText(blocks []content, text string) []content {
	if blank(text) {
		return blocks
	}
	return append(blocks, content{Type: typeText, Text: text})
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

func result(m *model.Message, ids *callIDs) content {
	c := content{Type: typeResult, ToolUseID: ids.result(m.CallID), IsError: m.IsError}
	switch {
	case !blank(m.Text):
		c.Content = m.Text
	case m.IsError:
		c.Content = noReason
	}
	return c
}

// said gives the blocks of an assistant's message: what its thinking says of their order
// first, then the rest of its text and its calls.
func said(m *model.Message, ids *callIDs) []content {
	var blocks []content
	text, calls := m.Text, m.Calls
	call := func() {
		blocks = append(blocks, content{Type: typeCall, ID: ids.call(calls[0].ID), Name: wellFormed(calls[0].Name), Input: input(calls[0].Args)})
		calls = calls[1:]
	}
	for _, t := range traceOf(m) {
		switch {
		case t.Type == typeText:
			blocks = appendText(blocks, text[:t.Bytes])
			text = text[t.Bytes:]
		case t.Type == typeCall:
			call()
		default:
			blocks = append(blocks, content{Type: t.Type, Thinking: t.Thinking, Signature: t.Signature, Data: t.Data})
		}
	}
	blocks = appendText(blocks, text)
	for len(calls) > 0 {
		call()
	}
	return blocks
}

// input gives a call's arguments as the object that the wire asks for.
func input(args json.RawMessage) json.RawMessage {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || args[0] != '{' || !json.Valid(args) {
		return json.RawMessage("{}")
	}
	return paired(args)
}

// paired gives valid JSON in which no escape is half of a surrogate pair; such a half
// becomes U+FFFD. The wire's own parser refuses the whole request for one.
func paired(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	out := make(json.RawMessage, 0, len(raw))
	for len(raw) > 0 {
		size := 1
		if raw[0] == '\\' {
			size = 2
			if raw[1] == 'u' {
				size = 6
			}
		}
		switch {
		case size < 6 || !isHalf(raw, '8'):
		case !isSecond(raw) && len(raw) >= 12 && isSecond(raw[6:]):
			size = 12
		default:
			out = append(out, `\ufffd`...)
			raw = raw[6:]
			continue
		}
		out = append(out, raw[:size]...)
		raw = raw[size:]
	}
	return out
}

// isHalf tells whether an escape at the front of b is a half of a pair; least is the
// second hex digit, in lower case, of the first such half that counts.
func isHalf(b []byte, least byte) bool {
	return b[0] == '\\' && b[1] == 'u' && b[2]|0x20 == 'd' && b[3]|0x20 >= least
}

// isSecond tells whether an escape at the front of b is the second half of a pair.
func isSecond(b []byte) bool { return isHalf(b, 'c') }
