package auth

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"hitchpost/turn/tool/policy"
)

// Verbs is a set of what a token may do.
type Verbs uint8

// Watch is subscribe and every read; Inject is inject and cancel; Approve is
// approve and deny; Admin is set_model, set_policy and the rest that changes a session.
const (
	Watch Verbs = 1 << iota
	Inject
	Approve
	Admin

	All = Watch | Inject | Approve | Admin
)

var verbNames = []string{"watch", "inject", "approve", "admin"} // by bit

// ParseVerb reads one verb by its name.
func ParseVerb(name string) (Verbs, error) {
	if i := slices.Index(verbNames, name); i >= 0 {
		return 1 << i, nil
	}
	return 0, fmt.Errorf("unknown verb %q; the verbs are %s", name, strings.Join(verbNames, ", "))
}

// Names lists the verbs.
func (v Verbs) Names() []string {
	names := []string{}
	for i, name := range verbNames {
		if v&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

func (v Verbs) String() string { return strings.Join(v.Names(), ",") }

// Digest is the SHA-256 of a token, all that is kept of it.
type Digest [sha256.Size]byte

// DigestOf hashes a token's secret.
func DigestOf(secret string) Digest { return sha256.Sum256([]byte(secret)) }

// Token is one credential: whose sessions, which of them, and what for. A Keyring
// changes its sessions and verbs in place, so whoever holds one sees what holds now.
type Token struct {
	Name  string // for logs and approvals ("by"); not secret
	Owner string // whose sessions it opens

	digest Digest
	grant  atomic.Pointer[grant]
}

// grant is the part of a token that may change while connections hold it.
type grant struct {
	agents []string // File.fnmatch globs over session ids; nil for all of the owner's
	allow  Verbs
}

// NewToken makes a token. agents are File.fnmatch globs over session ids, nil for
// all of the owner's sessions; an empty list that is not nil reaches none.
func NewToken(name, owner string, digest Digest, agents []string, allow Verbs) *Token {
	t := &Token{Name: name, Owner: owner, digest: digest}
	t.grant.Store(&grant{agents: agents, allow: allow})
	return t
}

// hears tells whether what can be watched is what it was: the same sessions, if any.
func (g *grant) hears(was *grant) bool {
	return g.allow&Watch == was.allow&Watch &&
		(g.agents == nil) == (was.agents == nil) && slices.Equal(g.agents, was.agents)
}

// Grant returns what the token reaches, nil for all of its owner's sessions, and what it
// may do, now.
func (t *Token) Grant() (agents []string, allow Verbs) {
	g := t.grant.Load()
	return g.agents, g.allow
}

// Reaches tells whether the token lists the session id. Whether the session is its
// owner's is for whoever looks the session up.
func (t *Token) Reaches(session string) bool {
	g := t.grant.Load()
	if g.agents == nil {
		return true
	}
	reaches := false
	for _, glob := range g.agents { // no early exit: guarantee 2
		if policy.Match(glob, session) {
			reaches = true
		}
	}
	return reaches
}

// May tells whether the token has every one of the verbs, now.
func (t *Token) May(v Verbs) bool { return t.grant.Load().allow&v == v }
