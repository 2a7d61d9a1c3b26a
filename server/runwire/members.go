package runwire

import "hitchpost/server/strictjson"

// members are those of a frame, or of its payload.
type members struct{ *strictjson.Members }

func parse(text []byte) (members, error) {
	m, err := strictjson.Read("the frame", text)
	return members{m}, err
}

// optional is String for members whose absence and "" are the same.
func (m members) optional(name string) string {
	if s := m.String(name); s != nil {
		return *s
	}
	return ""
}

// seq is Seq for members whose absence and 0 are the same.
func (m members) seq(name string) int64 {
	n, _ := m.Seq(name)
	return n
}

// payload returns the members of the payload.
func (m members) payload() members {
	inner, ok := m.Object("payload")
	if !ok {
		m.Fail("payload is missing or no object; what a frame asks for stands in it")
	}
	return members{inner}
}

// about reads the ids of a payload that may be refused for something else.
func (m members) about() asked {
	look := *m.Members // whose wrong members are not told
	ids := members{&look}
	return asked{run: ids.optional("run_id"), session: ids.optional("session_id")}
}
