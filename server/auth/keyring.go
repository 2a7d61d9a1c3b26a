package auth

import (
	"crypto/subtle"
	"slices"
	"sync"
)

// Keyring is the set of tokens in force and the connections they hold open. It is
// safe for concurrent use.
type Keyring struct {
	mu     sync.Mutex
	tokens []*Token // never changed in place
	live   map[*connection]struct{}
}

// connection is one live registration.
type connection struct {
	token   *Token
	session string // the one session it is to; unused where it is to all
	all     *grant // it is to all that the token reaches, which was this when it began; nil = to the one session
	drop    func()
}

// NewKeyring holds the tokens. The digests of two must not be equal.
func NewKeyring(tokens []*Token) *Keyring {
	return &Keyring{tokens: tokens, live: map[*connection]struct{}{}}
}

// Lookup finds the token of a secret, for surfaces that serve many sessions.
func (k *Keyring) Lookup(secret string) (*Token, bool) {
	return k.find(secret, func(*Token) bool { return true })
}

// Open finds the token of a secret if it reaches the session. It does not tell
// apart, in its answer or its time, a wrong token from one for another session.
func (k *Keyring) Open(secret, session string) (*Token, bool) {
	return k.find(secret, func(t *Token) bool { return t.Reaches(session) })
}

func (k *Keyring) find(secret string, opens func(*Token) bool) (*Token, bool) {
	digest := DigestOf(secret)
	k.mu.Lock()
	tokens := k.tokens
	k.mu.Unlock()
	found := -1
	for i, t := range tokens { // every token, every time: guarantee 2
		hit := subtle.ConstantTimeCompare(digest[:], t.digest[:])
		reach := 0
		if opens(t) {
			reach = 1
		}
		found = subtle.ConstantTimeSelect(hit&reach, i, found)
	}
	if found < 0 {
		return nil, false
	}
	return tokens[found], true
}

// Register notes a live connection of the token to the session. drop is called at
// most once, from Replace, when the token no longer opens it; it must not block and
// must not call the Keyring. ok is false when the token is no longer in force: the
// caller then treats it as unknown. release is to be called when the connection ends.
func (k *Keyring) Register(t *Token, session string, drop func()) (release func(), ok bool) {
	return k.register(&connection{token: t, session: session, drop: drop})
}

// RegisterAll is Register for a connection to everything that the token reaches.
func (k *Keyring) RegisterAll(t *Token, drop func()) (release func(), ok bool) {
	return k.register(&connection{token: t, all: t.grant.Load(), drop: drop})
}

func (k *Keyring) register(c *connection) (release func(), ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.opens(c) {
		return nil, false
	}
	k.live[c] = struct{}{}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.live, c)
	}, true
}

func (k *Keyring) opens(c *connection) bool {
	if !slices.Contains(k.tokens, c.token) {
		return false
	}
	if c.all != nil {
		return c.token.grant.Load().hears(c.all)
	}
	return c.token.Reaches(c.session)
}

// Replace puts another set of tokens in force and drops the live connections that
// none of it opens any more. A token with a name, a secret and an owner it already had
// stays the same token, with its new sessions and verbs.
func (k *Keyring) Replace(tokens []*Token) {
	k.mu.Lock()
	next := make([]*Token, len(tokens))
	for i, t := range tokens {
		next[i] = t
		if had := k.same(t); had != nil {
			had.grant.Store(t.grant.Load())
			next[i] = had
		}
	}
	k.tokens = next
	var dropped []*connection
	for c := range k.live {
		if !k.opens(c) {
			dropped = append(dropped, c)
			delete(k.live, c)
		}
	}
	k.mu.Unlock()
	for _, c := range dropped {
		c.drop()
	}
}

// same finds the token in force that t is a new edition of. A new name makes a new
// token, since the name is written into the log as who decided.
func (k *Keyring) same(t *Token) *Token {
	for _, had := range k.tokens {
		if had.digest == t.digest && had.Owner == t.Owner && had.Name == t.Name {
			return had
		}
	}
	return nil
}
