package client

import (
	"context"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Bounds of waiting.
const (
	MinWait = 100 * time.Millisecond // before the first new connection
	MaxWait = 10 * time.Second

	helloTimeout = 15 * time.Second // until a connection stands and said hello
	writeTimeout = 30 * time.Second // of one frame
	closeTimeout = time.Second      // until a silent server is hung up on
)

// Options of an Agent. The zero value is good.
type Options struct {
	LogID   string        // the log_id of the hello that a stored cursor belongs to
	MinWait time.Duration // default MinWait
	MaxWait time.Duration // default MaxWait
	HTTP    *http.Client  // default: its own, which notices a dead peer within a minute
}

// Agent is a client of one agent's socket. Its methods may be called from any
// goroutine; Next by one at a time.
type Agent struct {
	url, token string
	options    Options

	life context.Context // ended by Close, or by what no new connection can mend
	end  context.CancelCauseFunc
	done chan struct{} // closed when the goroutine has ended
	out  chan delivery

	wire sync.Mutex // held while a frame is sent, so that frames go out in the order of the states they belong to
	mu   sync.Mutex // guards what follows; never held while anything waits
	conn *websocket.Conn
	up   chan struct{} // closed while conn stands
	sub  subscription
	seen int64 // newest seq of this log that was delivered, -1 for none
	log  string
	hi   Hello
	sent []injection // not yet seen in the log, oldest first
}

// subscription is where the stream stands.
type subscription struct {
	on       bool
	number   int   // counts Subscribe, so that what an old one left over is told apart
	asked    int64 // from_seq of the newest subscribe frame
	next     int64 // seq of the next event to deliver
	awaiting bool  // nothing of it was seen yet: other seqs are left-overs of the one before
}

// delivery is a message on its way to Next; events carry their subscription.
type delivery struct {
	message Message
	number  int // 0 for messages that belong to none
}

// Dial connects to the agent, creating it if need be, and waits for hello. url is
// the server's address (http, https, ws or wss). ctx bounds the dialling alone. A
// failure here is returned, not tried again.
func Dial(ctx context.Context, url, token, agent string, o Options) (*Agent, error) {
	address, err := socketURL(url, agent)
	if err != nil {
		return nil, err
	}
	if o.MinWait == 0 {
		o.MinWait = MinWait
	}
	if o.MaxWait == 0 {
		o.MaxWait = MaxWait
	}
	if o.HTTP == nil {
		o.HTTP = newHTTPClient()
	}
	a := &Agent{
		url: address, token: token, options: o,
		done: make(chan struct{}), out: make(chan delivery), up: make(chan struct{}),
		seen: -1, log: o.LogID,
	}
	conn, hello, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	a.life, a.end = context.WithCancelCause(context.Background())
	a.install(conn, hello)
	go a.run(conn, hello)
	return a, nil
}

// Hello is what the server said last.
func (a *Agent) Hello() Hello {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.hi
}

// Next waits for the next message. After the Agent has ended it returns why, for ever.
func (a *Agent) Next(ctx context.Context) (Message, error) {
	for {
		select {
		case d := <-a.out:
			if d.number != 0 && d.number != a.number() {
				continue
			}
			return d.message, nil
		case <-a.done:
			return nil, context.Cause(a.life)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Messages ranges over Next until it fails; the error is the last pair.
func (a *Agent) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for {
			m, err := a.Next(ctx)
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

func (a *Agent) number() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sub.number
}

// Close hangs up and waits until everything has ended. The agent itself goes on.
func (a *Agent) Close() {
	a.end(ErrClosed)
	<-a.done
}
