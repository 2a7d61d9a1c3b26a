package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// NewEvent is an event to be appended.
type NewEvent struct {
	ID       string          // 16 lowercase hex digits, unique in the session; "" = made by the store
	Type     string          // such as "turn/start"
	Payload  json.RawMessage // one JSON object
	Streamed bool            // a piece of something that a later event holds whole; not found by Newest, Structural, ByID
}

// Event is an event of the log. Payload and Line share memory with other
// readers of the log: do not write to them.
type Event struct {
	Seq     int64
	ID      string
	At      time.Time // UTC, whole microseconds
	Type    string
	Payload json.RawMessage
	Line    []byte // the envelope, as every surface sends it; no newline in it
}

// The envelope in pieces; what stands between them is data:
// {"id":"…","session_id":…,"seq":7,"at":"…","type":"…","payload":{…}}
const (
	envID      = `{"id":"`
	envSession = `","session_id":`
	envSeq     = `,"seq":`
	envAt      = `,"at":"`
	envType    = `","type":"`
	envPayload = `","payload":`
	envEnd     = `}`

	idDigits = 16
	atFormat = "2006-01-02T15:04:05.000000Z"
)

// envelopeHead is the part of the envelope between id and seq, the same for
// every event of a session.
func envelopeHead(session string) string {
	var b bytes.Buffer
	b.WriteString(envSession)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(session) // a string always encodes
	b.Truncate(b.Len() - 1)
	b.WriteString(envSeq)
	return b.String()
}

// newID returns a fresh id, by the runtime's ChaCha8 generator, which the system seeds.
func newID() string {
	var raw [idDigits / 2]byte
	var digits [idDigits]byte
	binary.BigEndian.PutUint64(raw[:], rand.Uint64())
	hex.Encode(digits[:], raw[:])
	return string(digits[:])
}

// record is an event on its way into the table.
type record struct {
	typ  string
	id   []byte // 8 bytes, nil for a streamed piece
	line []byte
}

// encode builds the envelopes of a batch into one buffer.
func encode(head string, from int64, at time.Time, events []NewEvent) ([]record, []Event) {
	size := 0
	for i := range events {
		size += len(envID) + idDigits + len(head) + 20 + len(envAt) + len(atFormat) +
			len(envType) + len(events[i].Type) + len(envPayload) + len(events[i].Payload) + len(envEnd)
	}
	buf := make([]byte, 0, size)
	recs, out := make([]record, len(events)), make([]Event, len(events))
	for i := range events {
		e := &events[i]
		seq, id := from+int64(i), e.ID
		if id == "" {
			id = newID()
		}
		start := len(buf)
		buf = append(append(append(buf, envID...), id...), head...)
		buf = append(strconv.AppendInt(buf, seq, 10), envAt...)
		buf = append(at.AppendFormat(buf, atFormat), envType...)
		buf = append(append(buf, e.Type...), envPayload...)
		body := len(buf)
		buf = append(append(buf, e.Payload...), envEnd...)
		line := buf[start:len(buf):len(buf)]
		recs[i] = record{typ: e.Type, line: line}
		if !e.Streamed {
			recs[i].id, _ = hex.DecodeString(id) // 16 hex digits: checkEvent saw to it
		}
		out[i] = Event{Seq: seq, ID: id, At: at, Type: e.Type, Payload: json.RawMessage(buf[body : len(buf)-1 : len(buf)-1]), Line: line}
	}
	return recs, out
}

// decode reads an envelope back. We wrote it, so every member has its place;
// one that stands elsewhere is ErrDamaged.
func decode(head string, line []byte) (Event, error) {
	e, lacks := parse(head, line)
	if lacks != "" {
		return Event{}, fmt.Errorf("%w: no %s where it belongs", ErrDamaged, lacks)
	}
	return e, nil
}

// parse takes an envelope apart; lacks is the first member that is not where it belongs.
func parse(head string, line []byte) (e Event, lacks string) {
	e.Line = line
	rest, ok := bytes.CutPrefix(line, []byte(envID))
	if !ok || len(rest) < idDigits {
		return e, "id"
	}
	e.ID, rest = string(rest[:idDigits]), rest[idDigits:]
	if len(rest) < len(head) || string(rest[:len(head)]) != head {
		return e, "session_id"
	}
	seq, rest, ok := bytes.Cut(rest[len(head):], []byte(envAt))
	if !ok || len(rest) < len(atFormat) {
		return e, "seq"
	}
	var err error
	if e.Seq, err = strconv.ParseInt(string(seq), 10, 64); err != nil {
		return e, "seq"
	}
	if e.At, err = time.Parse(atFormat, string(rest[:len(atFormat)])); err != nil {
		return e, "at"
	}
	if rest, ok = bytes.CutPrefix(rest[len(atFormat):], []byte(envType)); !ok {
		return e, "type"
	}
	typ, rest, ok := bytes.Cut(rest, []byte(envPayload))
	if !ok || !bytes.HasSuffix(rest, []byte(envEnd)) {
		return e, "payload"
	}
	e.Type, e.Payload = string(typ), json.RawMessage(rest[:len(rest)-len(envEnd)])
	return e, ""
}
