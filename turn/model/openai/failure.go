package openai

import "hitchpost/turn/model/httpstream"

// complaintIn finds the error of a chunk, also one that stands in for the chunk.
func complaintIn(name string, c *chunk, data []byte) (httpstream.Complaint, bool) {
	if found, ok := httpstream.ComplaintOf(c.Error); ok {
		return found, true
	}
	alone := c.Choices == nil && (len(c.Message) > 0 || len(c.Detail) > 0)
	if alone || name == "error" {
		return httpstream.ComplaintOf(data)
	}
	return httpstream.Complaint{}, false
}
