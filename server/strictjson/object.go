package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest, the outermost included.
const MaxDepth = 100

// Object returns the members of the one JSON object that text is, by their exact
// names; of a repeated name the last one. what is the text in error messages, such as
// "the frame".
func Object(what string, text []byte) (map[string]json.RawMessage, error) {
	if err := check(what, text); err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	var otherType *json.UnmarshalTypeError
	if err := json.Unmarshal(text, &all); err != nil && !errors.As(err, &otherType) {
		return nil, fmt.Errorf("%s is not JSON: %w", what, err)
	}
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); trimmed[0] != '{' {
		return nil, fmt.Errorf("%s is not a JSON object", what)
	}
	return all, nil
}

// check refuses what the JSON decoder would let through or mend. Whether the text is
// JSON at all is the decoder's to say; on other text check finds something or nothing,
// harmlessly.
func check(what string, text []byte) error {
	if !utf8.Valid(text) {
		return fmt.Errorf("%s is not valid UTF-8", what)
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("%s nests deeper than %d", what, MaxDepth)
			}
		case '}', ']':
			depth--
		case '"':
			end, ok := stringEnd(text, i+1)
			if !ok {
				return fmt.Errorf("%s holds half of a surrogate pair (\\ud800 to \\udfff) without the other", what)
			}
			i = end
		}
	}
	return nil
}

// stringEnd goes through a string that begins at i and returns where its closing
// quote stands. ok is false at a lone surrogate escape.
func stringEnd(text []byte, i int) (end int, ok bool) {
	for ; i < len(text) && text[i] != '"'; i++ {
		if text[i] != '\\' {
			continue
		}
		switch unit := escapedUnit(text, i); {
		case unit >= 0xd800 && unit < 0xdc00: // the first half
			if next := escapedUnit(text, i+6); next < 0xdc00 || next > 0xdfff {
				return 0, false
			}
			i += 11
		case unit >= 0xdc00 && unit <= 0xdfff:
			return 0, false
		default:
			i++ // what is escaped, a quote perhaps
		}
	}
	return i, true
}

// escapedUnit returns the UTF-16 unit of the \uXXXX at i, -1 if there is none.
func escapedUnit(text []byte, i int) int {
	if i+6 > len(text) || text[i] != '\\' || text[i+1] != 'u' {
		return -1
	}
	unit := 0
	for _, c := range text[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		unit = unit<<4 | int(c)
	}
	return unit
}
