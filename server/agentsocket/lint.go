package agentsocket

import "unicode/utf8"

// lint refuses what the JSON decoder would let through or mend: invalid UTF-8, lone
// surrogate escapes, and nesting beyond maxDepth. Whether the text is JSON at all is
// the decoder's to say; on other text lint finds something or nothing, harmlessly.
func lint(text []byte) error {
	if !utf8.Valid(text) {
		return bad("the frame is not valid UTF-8")
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return bad("the frame nests deeper than %d", maxDepth)
			}
		case '}', ']':
			depth--
		case '"':
			end, ok := lintString(text, i+1)
			if !ok {
				return bad("the frame holds half of a surrogate pair (\\ud800 to \\udfff) without the other")
			}
			i = end
		}
	}
	return nil
}

// lintString goes through a string that begins at i and returns where its closing
// quote stands. ok is false at a lone surrogate escape.
func lintString(text []byte, i int) (end int, ok bool) {
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
