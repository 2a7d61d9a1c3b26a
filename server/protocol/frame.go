package protocol

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// ServerPayload ties the payload of a frame from the server to its type.
type ServerPayload interface{ ServerType() ServerType }

// ClientPayload ties the payload of a frame from a client to its type.
type ClientPayload interface{ ClientType() ClientType }

// Encode returns a frame as one line of JSON. seq is that of the event the frame comes
// from; 0 makes an unnumbered frame (seq 0 is always session/created, which no run has).
func Encode(p ServerPayload, seq int64) []byte {
	var b bytes.Buffer
	b.WriteString(`{"type":"`)
	b.WriteString(string(p.ServerType()))
	b.WriteByte('"')
	if seq != 0 {
		b.WriteString(`,"seq":`)
		b.Write(strconv.AppendInt(b.AvailableBuffer(), seq, 10))
	}
	b.WriteString(`,"payload":`)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		// A payload is made of Go values and of JSON that was parsed before, so a
		// failure is a fault in the program, and silence would be a lost frame.
		panic("encode " + string(p.ServerType()) + ": " + err.Error())
	}
	b.Truncate(b.Len() - 1) // the newline
	return append(b.Bytes(), '}')
}

// Time is how the run wire writes a moment: as the envelopes of the log do.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
