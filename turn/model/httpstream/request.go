package httpstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hitchpost/turn/event"
	"hitchpost/turn/model"
)

// Encode gives the body of a request: members in the order of the struct, nothing
// escaped that JSON does not ask for, raw JSON with its digits. An error is an *Error.
func Encode(request any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(request); err != nil {
		return nil, badRequest("the request cannot be written as JSON: %v", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Tools gives the tools sorted by name, each with a schema. An error is an *Error.
func Tools(offered []model.Tool) ([]model.Tool, error) {
	tools := slices.SortedStableFunc(slices.Values(offered), func(a, b model.Tool) int { return strings.Compare(a.Name, b.Name) })
	for i := range tools {
		t := &tools[i]
		if len(t.Schema) == 0 {
			t.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		if !json.Valid(t.Schema) {
			return nil, badRequest("the schema of tool %s is no JSON", t.Name)
		}
	}
	return tools, nil
}

func badRequest(format string, args ...any) *model.Error {
	return &model.Error{Code: event.CodeConfig, Message: shorten(fmt.Sprintf(format, args...))}
}
