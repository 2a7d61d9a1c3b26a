package agentsocket

// Code is the code of an error frame: a closed set (Agent Socket v1, protocol frames).
type Code string

const (
	CodeUnauthorized Code = "unauthorized" // bad or missing token; closes
	CodeSuperseded   Code = "superseded"   // a newer connection took over this agent; closes
	CodeLagged       Code = "lagged"       // the client read too slowly; closes
	CodeBadFrame     Code = "bad_frame"    // unparseable or invalid client frame
	CodeNotRunning   Code = "not_running"  // cancel arrived while no turn was running
	CodeStaleCall    Code = "stale_call"   // a verdict for a call without a standing request
	CodeUnsupported  Code = "unsupported"  // not mounted here, or not allowed to this token
	CodeInternal     Code = "internal"     // an unexpected error; closes
)
