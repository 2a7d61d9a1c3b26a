package protocol

import "hitchpost/turn/event"

// Code says why a run failed or a frame was refused. The loop's codes are declared in
// turn/event; those below are the transport's.
type Code = event.Code

const (
	CodeSessionBusy     Code = "session_busy"      // a run is going on the session
	CodeSessionNotFound Code = "session_not_found" // no such session of this owner
	CodeRunNotFound     Code = "run_not_found"     // no such run of this owner, or it has ended
	CodeApprovalFailed  Code = "approval_failed"   // the call is unknown, decided, foreign or ambiguous
	CodeConfigError     Code = event.CodeConfig    // no such agent definition, or no usable model
	CodePersistError    Code = "persist_error"     // the log could not be written
	CodeStreamError     Code = "stream_error"      // the run's stream could not be served
	CodeResumeError     Code = "resume_error"      // reserved: a resume that fails is told by run.diagnostic, and its run stays open
	CodeInternal        Code = "internal"          // an unexpected error; details are in the server's log
	CodeBadFrame        Code = "bad_frame"         // malformed, unknown or impossible frame
	CodeForbidden       Code = "forbidden"         // the token does not allow this verb
)

// RESTCode is the code of a refused REST request, one for each HTTP status.
type RESTCode string

const (
	RESTValidation   RESTCode = "validation"   // 400
	RESTUnauthorized RESTCode = "unauthorized" // 401
	RESTForbidden    RESTCode = "forbidden"    // 403
	RESTNotFound     RESTCode = "not_found"    // 404
	RESTConflict     RESTCode = "conflict"     // 409
	RESTTooLarge     RESTCode = "too_large"    // 413
	RESTRateLimited  RESTCode = "rate_limited" // 429
	RESTInternal     RESTCode = "internal"     // 500
	RESTUpstream     RESTCode = "upstream"     // 502
	RESTUnavailable  RESTCode = "unavailable"  // 503
)

// RESTError is the body of a refused REST request.
type RESTError struct {
	Error RESTProblem `json:"error"`
}

// RESTProblem says what was wrong and what to do.
type RESTProblem struct {
	Code    RESTCode `json:"code"`
	Message string   `json:"message"`
}
