package scripted

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"brownout/loadgen/scriptserver/wire"
)

// link is one connection, made when it is needed and made again when it broke.
// Many requests are under way on it at a time.
type link struct {
	address string
	hello   wire.Request
	timeout time.Duration

	mu      sync.Mutex
	out     *wire.Writer // nil while there is no connection
	dialing chan struct{}
	failed  error // of the last attempt to connect
	waiting map[uint64]*call
	last    uint64
	closed  bool
}

// call is a request under way.
type call struct {
	id       uint64
	key      string // whose checksum is checked on arrival
	done     chan struct{}
	answer   wire.Response
	value    []byte // a copy, if keep
	keep     bool
	checksum bool // the value belongs to the record
	broken   bool
}

var calls = sync.Pool{New: func() any { return &call{done: make(chan struct{}, 1)} }}

var (
	errBroken = errors.New("the connection broke")
	errClosed = errors.New("the driver is closed")
)

func (d *Driver) newLink(address string) *link {
	return &link{
		address: address, timeout: inSeconds(d.options.DialTimeoutS), waiting: map[uint64]*call{},
		hello: wire.Request{Verb: wire.Hello, Key: d.namespace},
	}
}

// connected makes sure there is a connection; those who come while one is
// being made share its outcome.
func (l *link) connected(ctx context.Context) error {
	l.mu.Lock()
	for l.out == nil {
		if l.closed {
			l.mu.Unlock()
			return errClosed
		}
		if l.dialing == nil {
			l.dialing = make(chan struct{})
			go l.dial(l.dialing)
		}
		dialing := l.dialing
		l.mu.Unlock()
		select {
		case <-dialing:
		case <-ctx.Done():
			return ctx.Err()
		}
		l.mu.Lock()
		if l.out == nil && l.failed != nil {
			err := l.failed
			l.mu.Unlock()
			return err
		}
	}
	l.mu.Unlock()
	return nil
}

func (l *link) dial(done chan struct{}) {
	conn, err := net.DialTimeout("tcp", l.address, l.timeout)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(done)
	l.dialing, l.failed = nil, err
	switch {
	case err != nil:
	case l.closed:
		_ = conn.Close()
	default:
		l.out = wire.NewWriter(conn)
		l.out.Request(&l.hello)
		go l.read(conn, l.out)
	}
}

// read hands out the answers until the connection breaks.
func (l *link) read(conn net.Conn, out *wire.Writer) {
	reader := wire.NewReader(conn)
	var answer wire.Response
	for reader.ReadResponse(&answer) == nil {
		if c := l.take(answer.ID); c != nil {
			c.arrive(&answer)
		}
	}
	l.mu.Lock()
	broken := l.waiting
	l.waiting = map[uint64]*call{}
	if l.out == out {
		l.out = nil
	}
	l.mu.Unlock()
	out.Close()
	for _, c := range broken {
		c.broken = true
		c.done <- struct{}{}
	}
}

// take removes a pending call; nil if it is not pending any more.
func (l *link) take(id uint64) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.waiting[id]
	delete(l.waiting, id)
	return c
}

// send begins a call. It fails if the connection broke in the meantime.
func (l *link) send(c *call, r *wire.Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return errBroken
	}
	l.last++
	c.id, r.ID = l.last, l.last
	l.waiting[c.id] = c
	l.out.Request(r)
	return nil
}

// wait returns when the call is done, or false when the caller's time is up;
// the call is then forgotten.
func (l *link) wait(ctx context.Context, c *call) bool {
	select {
	case <-c.done:
		return true
	case <-ctx.Done():
	}
	if l.take(c.id) == nil { // it is being answered right now
		<-c.done
		return true
	}
	return false
}

// ask does a request of control, and waits for its answer. All of them can be
// repeated without harm, so one that meets a connection which has just broken
// is sent once more on a new one.
func (l *link) ask(ctx context.Context, r *wire.Request) (*call, error) {
	c, err := l.askOnce(ctx, r)
	if errors.Is(err, errBroken) {
		c, err = l.askOnce(ctx, r)
	}
	return c, err
}

func (l *link) askOnce(ctx context.Context, r *wire.Request) (*call, error) {
	if err := l.connected(ctx); err != nil {
		return nil, err
	}
	c := &call{done: make(chan struct{}, 1), key: r.Key, keep: true}
	if err := l.send(c, r); err != nil {
		return nil, err
	}
	if !l.wait(ctx, c) {
		return nil, ctx.Err()
	}
	if c.broken {
		return nil, errBroken
	}
	return c, nil
}

func (l *link) close() {
	l.mu.Lock()
	l.closed = true
	out := l.out
	l.mu.Unlock()
	if out != nil {
		out.Close()
	}
}
