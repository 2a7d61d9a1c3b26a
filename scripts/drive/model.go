package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// answer is a chat completions server: the text "N SIZE PAUSE" is answered with N deltas
// of SIZE bytes, with so many milliseconds between them; as fast as they are taken
// without a PAUSE.
func answer(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	n, size, pause := 1, 1, 0
	fmt.Sscan(request.Messages[len(request.Messages)-1].Content, &n, &size, &pause)
	w.Header().Set("Content-Type", "text/event-stream")
	out := bufio.NewWriter(w)
	defer out.Flush()
	for i := range n {
		delta := fmt.Sprintf("%d ", i)
		delta += strings.Repeat("x", max(0, size-len(delta)))
		fmt.Fprintf(out, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", delta)
		if pause > 0 {
			out.Flush()
			http.NewResponseController(w).Flush()
			time.Sleep(time.Duration(pause) * time.Millisecond)
		}
	}
	fmt.Fprint(out, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}
