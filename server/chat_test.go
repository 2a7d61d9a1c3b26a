package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// chatMessage is a message of a request, as a model server is sent it.
type chatMessage struct {
	Role      string
	Content   any
	CallID    string `json:"tool_call_id"`
	ToolCalls []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// completion makes the chunks of a reply: words of text, or "call ID NAME; …".
func completion(reply string) []string {
	var chunks []string
	finish := "stop"
	if strings.HasPrefix(reply, "call ") {
		finish = "tool_calls"
		for i, call := range strings.Split(reply, "; ") {
			f := strings.Fields(call)
			args, _ := json.Marshal(map[string]string{
				"Read": `{"file_path":"file.txt"}`,
				"Bash": fmt.Sprintf(`{"command":"echo x >> effect-%s"}`, f[1]),
			}[f[2]])
			chunks = append(chunks, fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}}]}`, i, f[1], f[2], args))
		}
	} else {
		for _, word := range strings.Fields(reply) {
			chunks = append(chunks, fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%q}}]}`, word+" "))
		}
	}
	return append(chunks,
		fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, finish),
		`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":5}}`)
}
