package turn

import (
	"sync"

	"hitchpost/turn/event"
)

// progressLimit bounds the output of one call that is logged while the call runs, in
// bytes. Its result holds what there is to hold.
const progressLimit = 256 << 10

// progress returns what a tool calls with its output so far: masked as one text, bounded,
// and dropped once the call has its result. It never waits.
func (a *Agent) progress(j *job) func(text string) {
	var mu sync.Mutex
	masked, left := a.host.config().Redact.Stream(), progressLimit
	return func(text string) {
		mu.Lock()
		defer mu.Unlock()
		text = masked.Write(text)
		if left -= len(text); text == "" || left < 0 {
			return
		}
		a.post(func() {
			if a.has(j) && j.result == nil {
				a.record(event.NewID(), event.ToolProgress{ID: j.call.ID, Text: text})
			}
		})
	}
}
