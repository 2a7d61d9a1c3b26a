package runwire

import (
	"strings"

	"hitchpost/server/protocol"
	"hitchpost/server/strictjson"
)

// frame is a client frame behind the first: a payload of package protocol, a closed set.
type frame = protocol.ClientPayload

// asked is what a frame was about, for its refusal: the ids as the client wrote them.
type asked struct{ run, session string }

// decoders has one decoder for each type of frame.
var decoders = map[protocol.ClientType]func(p members) frame{
	protocol.TypeRunCreate: func(p members) frame {
		return protocol.RunCreate{SessionID: p.NeedString("session_id"), Input: p.NeedString("input"), Agent: p.optional("agent")}
	},
	protocol.TypeRunSubscribe: func(p members) frame {
		return protocol.RunSubscribe{RunID: p.NeedString("run_id"), FromSeq: p.seq("from_seq")}
	},
	protocol.TypeRunCancel: func(p members) frame {
		f := protocol.RunCancel{RunID: p.NeedString("run_id"), Mode: protocol.Mode(p.optional("mode"))}
		switch f.Mode {
		case "", protocol.ModeAbort, protocol.ModeGraceful:
		default:
			p.Fail("mode must be %q or %q, not %s", protocol.ModeAbort, protocol.ModeGraceful, strictjson.Quote(string(f.Mode)))
		}
		return f
	},
	protocol.TypeRunInject: func(p members) frame {
		f := protocol.RunInject{RunID: p.NeedString("run_id"), Queue: protocol.Queue(p.NeedString("queue")), Input: p.NeedString("input")}
		switch f.Queue {
		case protocol.QueueSteer, protocol.QueueNextTurn, protocol.QueueFollowUp:
		default:
			p.Fail("queue must be %q, %q or %q, not %s", protocol.QueueSteer, protocol.QueueNextTurn, protocol.QueueFollowUp, strictjson.Quote(string(f.Queue)))
		}
		if strings.TrimSpace(f.Input) == "" {
			p.Fail("input is blank; it must hold a text")
		}
		return f
	},
	protocol.TypeToolApprove: func(p members) frame {
		return protocol.ToolApprove{ToolCallID: p.NeedString("tool_call_id"), RunID: p.optional("run_id"), Scope: p.optional("scope")}
	},
	protocol.TypeToolReject: func(p members) frame {
		return protocol.ToolReject{ToolCallID: p.NeedString("tool_call_id"), RunID: p.optional("run_id"), Reason: p.optional("reason")}
	},
}

// typeNames lists the types for error messages.
const typeNames = "run.create, run.subscribe, run.cancel, run.inject, tool.approve, tool.reject"

// decode reads a frame behind the first. Also where it refuses one, about says which run
// or session the frame named, as far as it could be read.
func decode(text []byte) (f frame, about asked, err error) {
	o, err := parse(text)
	if err != nil {
		return nil, asked{}, err
	}
	name := protocol.ClientType(o.NeedString("type"))
	if o.Err() != nil {
		return nil, asked{}, o.Err()
	}
	decoder, ok := decoders[name]
	switch {
	case name == protocol.TypeAuth:
		o.Fail("auth was accepted already; to use another token open another connection")
	case !ok:
		o.Fail("unknown frame type %s; the types are %s", strictjson.Quote(string(name)), typeNames)
	}
	if o.Err() != nil {
		return nil, asked{}, o.Err()
	}
	p := o.payload()
	if o.Err() != nil {
		return nil, asked{}, o.Err()
	}
	f = decoder(p)
	return f, p.about(), p.Err()
}
