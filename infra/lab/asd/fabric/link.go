package fabric

import (
	"bufio"
	"encoding/binary"
	"net"
	"sync"
	"time"

	"brownout/infra/lab/asd/nodeid"
)

const (
	queueLength = 1 << 14
	dialTimeout = 500 * time.Millisecond
	retryDelay  = 20 * time.Millisecond
)

// link is one way to one peer: a queue, and a connection that empties it. It lives while the peer is
// seen; what is still queued when it goes is lost.
type link struct {
	address string
	hello   nodeid.ID
	queue   chan Message
	gone    chan struct{}

	mu   sync.Mutex
	conn net.Conn
}

func newLink(self nodeid.ID, address string) *link {
	l := &link{
		address: address, hello: self,
		queue: make(chan Message, queueLength), gone: make(chan struct{}),
	}
	go l.run()
	return l
}

// send queues a message; false if the queue is full, as it gets when the peer does not read.
func (l *link) send(m Message) bool {
	select {
	case l.queue <- m:
		return true
	default:
		return false
	}
}

// close ends the link. A write that the peer does not take is cut off by it.
func (l *link) close() {
	close(l.gone)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		l.conn.Close()
	}
}

func (l *link) run() {
	for l.alive() {
		conn, err := net.DialTimeout("tcp", l.address, dialTimeout)
		if err != nil {
			l.pause()
			continue
		}
		if l.adopt(conn) {
			l.empty(conn)
		}
		conn.Close()
	}
}

func (l *link) alive() bool {
	select {
	case <-l.gone:
		return false
	default:
		return true
	}
}

func (l *link) pause() {
	select {
	case <-l.gone:
	case <-time.After(retryDelay):
	}
}

// adopt makes conn the one that close cuts off; false if that has happened already.
func (l *link) adopt(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = conn
	return l.alive()
}

// empty writes the queue to the connection until either ends.
func (l *link) empty(conn net.Conn) {
	w := bufio.NewWriterSize(conn, 1<<16)
	hello := binary.BigEndian.AppendUint64(nil, uint64(l.hello))
	if _, err := w.Write(hello); err != nil || w.Flush() != nil {
		return
	}
	ended := watch(conn)
	for {
		select {
		case <-l.gone:
			return
		case <-ended:
			return
		case m := <-l.queue:
			if m.write(w) != nil || (len(l.queue) == 0 && w.Flush() != nil) {
				return
			}
		}
	}
}

// watch tells when the peer ends the connection, on which it never sends anything: a process that
// was killed and is back would otherwise cost the first messages to it.
func watch(conn net.Conn) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = conn.Read(make([]byte, 1))
	}()
	return ended
}
