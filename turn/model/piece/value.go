package piece

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// Decode reads the JSON object data into a struct. A member of another type than expected
// stays at its zero value and costs only itself; a provider that got one wrong may have
// the others right.
func Decode(data []byte, into any) error {
	err := json.Unmarshal(data, into) // skips what does not fit, and goes on
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		err = nil
	}
	if err == nil && data[0] != '{' {
		return errors.New("it is no object")
	}
	return err
}

// String is a JSON string as bytes for Text to put together, nil for null. A list of
// parts is the text of its parts.
type String []byte

func (t *String) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		*t = unquote(make([]byte, 0, len(b)-2), b[1:len(b)-1])
	case '[':
		var parts []struct {
			Text String `json:"text"`
		}
		json.Unmarshal(b, &parts) // what does not fit has no text
		for _, p := range parts {
			*t = append(*t, p.Text...)
		}
	}
	return nil
}

// Fragment is a piece of the arguments' JSON text, or the arguments themselves.
type Fragment []byte

func (a *Fragment) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		*a = unquote(make([]byte, 0, len(b)-2), b[1:len(b)-1])
	case string(b) != "null":
		*a = bytes.Clone(b)
	}
	return nil
}

// Number is a finite number, also one in quotes; nil for everything else.
type Number struct{ Value *float64 }

func (n *Number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	if err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		n.Value = &f
	}
	return nil
}

// Count is the number as a count of something, nil when it is none.
func (n Number) Count() *int64 {
	if n.Value == nil || *n.Value < 0 || *n.Value > 1<<53 {
		return nil
	}
	c := int64(*n.Value)
	return &c
}
