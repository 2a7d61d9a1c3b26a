package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hitchpost/turn/tool"
)

// The SDK decodes results into Go values: a number above 2^53 loses digits, null
// looks like nothing, and one item of a type that it does not know fails the whole
// result. So a result goes through it sealed, as one text that holds its JSON.

// seal wraps a call's result; any other result stays as it is.
func seal(result json.RawMessage) json.RawMessage {
	var r map[string]json.RawMessage
	if json.Unmarshal(result, &r) != nil {
		return result
	}
	_, structured := r["structuredContent"]
	if !structured && !bytes.HasPrefix(r["content"], []byte("[")) && string(r["resultType"]) != inputRequired {
		return result
	}
	type text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	sealed, err := json.Marshal(map[string][]text{"content": {{"text", string(result)}}})
	if err != nil {
		return result
	}
	return sealed
}

// inputRequired marks a result that is a question to the user behind the client.
const inputRequired = `"input_required"`

// item is one item of a result's content.
type item struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MIME     string `json:"mimeType"`
	Data     string `json:"data"` // base64
	URI      string `json:"uri"`
	Resource struct {
		URI  string `json:"uri"`
		MIME string `json:"mimeType"`
	} `json:"resource"`
}

// unseal turns a call's result into ours, by guarantee 3.
func unseal(sealed *sdk.CallToolResult) tool.Result {
	raw := "{}"
	if len(sealed.Content) == 1 {
		if text, ok := sealed.Content[0].(*sdk.TextContent); ok {
			raw = text.Text
		}
	}
	var r struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
		Type       json.RawMessage   `json:"resultType"`
	}
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		return tool.Fail("the mcp server's result cannot be read: " + err.Error())
	}
	text := plain(r.Content)
	switch {
	case string(r.Type) == inputRequired:
		return tool.Fail("the tool asks for more input, which cannot be given here")
	case r.IsError && text == "" && r.Structured != nil:
		return tool.Fail(string(r.Structured))
	case r.IsError && text == "":
		return tool.Fail("the tool failed and did not say why")
	case r.IsError:
		return tool.Fail(text)
	case r.Structured != nil:
		return tool.Result{Content: r.Structured}
	}
	return tool.Text(text)
}

// plain is content as text: texts as they are, of all else its type and what it is.
func plain(content []json.RawMessage) string {
	var lines []string
	for _, c := range content {
		var it item
		if json.Unmarshal(c, &it) != nil || it.Type == "" {
			lines = append(lines, "[item without a type]")
			continue
		}
		lines = append(lines, it.String())
	}
	return strings.Join(lines, "\n")
}

func (it item) String() string {
	about := []string{it.Type}
	switch it.Type {
	case "text":
		return it.Text
	case "resource":
		about = append(about, it.Resource.URI, it.Resource.MIME)
	default:
		about = append(about, it.URI, it.MIME)
		if it.Data != "" {
			about = append(about, fmt.Sprintf("%d bytes", len(strings.TrimRight(it.Data, "="))*3/4))
		}
	}
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" })
	return "[" + strings.Join(about, " ") + "]"
}
