package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// maxName bounds a name and an id, in bytes.
const maxName = 64

// wellFormed gives a name or an id of a call in the form that the wire takes: letters,
// digits, _ and -. Another one is mapped the same way each time, and to one of its own.
func wellFormed(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if clean == name && name != "" && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return clean[:min(len(clean), maxName-17)] + "_" + hex.EncodeToString(sum[:8])
}

// callIDs gives the ids of a history's calls. The wire wants each there once, while in
// the log an id may come again in a later turn.
type callIDs struct {
	uses map[string]int    // by well-formed id
	last map[string]string // the id sent for the newest call of an id
}

func newCallIDs() *callIDs {
	return &callIDs{uses: map[string]int{}, last: map[string]string{}}
}

// call gives the id of the next call that has id in the log.
func (c *callIDs) call(id string) string {
	form := wellFormed(id)
	sent := form
	for c.uses[sent] > 0 {
		c.uses[form]++
		sent = form + "_" + strconv.Itoa(c.uses[form])
	}
	c.uses[sent]++
	c.last[id] = sent
	return sent
}

// result gives the id of the newest call that has id in the log.
func (c *callIDs) result(id string) string {
	if sent, ok := c.last[id]; ok {
		return sent
	}
	return wellFormed(id)
}
