package wsconn

import (
	"time"

	"github.com/coder/websocket"
)

// Cause is why a connection ended: a word for logs and tests, the code of the
// close frame and the reason in it.
type Cause struct {
	Name   string
	Code   websocket.StatusCode // 0: the peer is not told
	Reason string               // at most 123 bytes, never a secret
}

// patience is how long a peer may take for the rest of the write under way and its
// farewell. A slow client shall learn that it lagged, and nobody waits for it;
// a shutdown is waited for.
func (c *Cause) patience() time.Duration {
	if c.Code == 0 || c == ShuttingDown {
		return lingerTimeout
	}
	return WriteStall
}

func (c *Cause) String() string { return c.Name }

// The causes. Each is named here and nowhere else.
var (
	Unauthorized = &Cause{"unauthorized", websocket.StatusPolicyViolation, "unauthorized"}
	FirstFrame   = &Cause{"no token", websocket.StatusPolicyViolation, `unauthorized: the first frame must be {"type":"auth","token":"…"}`}
	NoToken      = &Cause{"late token", websocket.StatusPolicyViolation, "unauthorized: no token within 10 seconds"}
	WrongToken   = &Cause{"wrong token", websocket.StatusPolicyViolation, "unauthorized: the token is wrong"}
	Withdrawn    = &Cause{"token withdrawn", websocket.StatusPolicyViolation, "unauthorized: the token was withdrawn or reaches other sessions now"}
	Superseded   = &Cause{"superseded", websocket.StatusPolicyViolation, "superseded by a newer connection"}
	Lagged       = &Cause{"lagged", websocket.StatusTryAgainLater, "lagged: the client read too slowly"}
	Internal     = &Cause{"internal", websocket.StatusInternalError, "internal error"}
	ShuttingDown = &Cause{"shutting down", websocket.StatusGoingAway, "the server is shutting down"}
	TooLarge     = &Cause{"too large", websocket.StatusMessageTooBig, "message over 64 MiB"}
	FrameTooBig  = &Cause{"frame too large", websocket.StatusMessageTooBig, "frame over 1 MiB"}
	Unfinished   = &Cause{"unfinished message", websocket.StatusProtocolError, "message not finished in time"}
	Silent       = &Cause{"no pong", websocket.StatusTryAgainLater, "no answer to pings"}
	PeerGone     = &Cause{"peer gone", 0, ""}
	WriteStalled = &Cause{"write stalled", 0, ""}
)
