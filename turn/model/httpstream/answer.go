package httpstream

import "hitchpost/turn/model"

// Answer takes in one answer as it comes. It is used by one goroutine.
type Answer interface {
	// Event takes in the data of one event, which is not blank, or an answer that came
	// as one JSON value, with no name. An error is an *Error, and ends the answer.
	Event(name string, data []byte) (Progress, error)
	// End judges the end of what came, nil if the answer is complete. marked tells that
	// the provider marked it: by [DONE], or as the answer was one JSON value.
	End(marked bool) error
	// Kept is how many bytes are kept of the answer.
	Kept() int
	// Reply is the complete answer, or an *Error for the refusal that it is.
	Reply() (model.Reply, error)
}

// Progress says how far an event brought an answer.
type Progress int

const (
	More Progress = iota // it goes on
	Idle                 // the event only kept the connection alive
	Tail                 // it is complete; what still comes is welcome, and waited for only a while
	Over                 // it has ended
)
