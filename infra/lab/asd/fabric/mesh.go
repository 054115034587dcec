package fabric

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"brownout/infra/lab/asd/nodeid"
)

// Channel keeps what must be quick apart from what is much.
type Channel int

// The channels.
const (
	Quick Channel = iota
	Bulk
	channels
)

// ErrNoNode is a peer that is not seen at the moment.
var ErrNoNode = errors.New("no such node")

// ErrTimeout is a question without an answer in time.
var ErrTimeout = errors.New("no answer in time")

// Mesh is all links of one node and what arrives on the peers'.
type Mesh struct {
	self   nodeid.ID
	handle func(Message)
	lastID atomic.Uint64

	mu    sync.Mutex
	peers map[nodeid.ID]*[channels]*link
	asked map[uint64]chan Message
}

// NewMesh returns a mesh without peers. handle is called for each message that is not an awaited answer,
// one at a time for each connection: what takes long must run elsewhere.
func NewMesh(self nodeid.ID, handle func(Message)) *Mesh {
	return &Mesh{
		self: self, handle: handle,
		peers: map[nodeid.ID]*[channels]*link{},
		asked: map[uint64]chan Message{},
	}
}

// Arrive opens the links to a peer.
func (m *Mesh) Arrive(id nodeid.ID, address string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.peers[id] == nil {
		m.peers[id] = &[channels]*link{newLink(m.self, address), newLink(m.self, address)}
	}
}

// Depart closes the links to a peer.
func (m *Mesh) Depart(id nodeid.ID) {
	m.mu.Lock()
	links := m.peers[id]
	delete(m.peers, id)
	m.mu.Unlock()
	if links != nil {
		for _, l := range links {
			l.close()
		}
	}
}

// Send queues a message. Nil means queued and not received.
func (m *Mesh) Send(to nodeid.ID, channel Channel, message Message) error {
	if l := m.link(to, channel); l == nil || !l.send(message) {
		return ErrNoNode
	}
	return nil
}

// link returns the link to a peer; nil if it is not seen.
func (m *Mesh) link(to nodeid.ID, channel Channel) *link {
	m.mu.Lock()
	defer m.mu.Unlock()
	if links := m.peers[to]; links != nil {
		return links[channel]
	}
	return nil
}

// Ask sends a question and waits for its answer, no longer than the peer is seen.
func (m *Mesh) Ask(to nodeid.ID, channel Channel, message Message, timeout time.Duration) (Message, error) {
	l := m.link(to, channel)
	if l == nil {
		return Message{}, ErrNoNode
	}
	answers, done := m.Expect(&message, 1)
	defer done()
	if !l.send(message) {
		return Message{}, ErrNoNode
	}
	expired := time.NewTimer(timeout)
	defer expired.Stop()
	select {
	case answer := <-answers:
		return answer, nil
	case <-l.gone:
		return Message{}, ErrNoNode
	case <-expired.C:
		return Message{}, ErrTimeout
	}
}

// Expect numbers a message that is sent to up to n peers and returns where their answers arrive.
// done must be called; answers after it are dropped.
func (m *Mesh) Expect(message *Message, n int) (answers <-chan Message, done func()) {
	message.ID = m.lastID.Add(1)
	id, arrive := message.ID, make(chan Message, n)
	m.mu.Lock()
	m.asked[id] = arrive
	m.mu.Unlock()
	return arrive, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.asked, id)
	}
}

// Serve takes the peers' connections until the listener is closed.
func (m *Mesh) Serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go m.receive(conn)
	}
}

func (m *Mesh) receive(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 1<<16)
	var hello [8]byte
	if _, err := io.ReadFull(in, hello[:]); err != nil {
		return
	}
	from := nodeid.ID(binary.BigEndian.Uint64(hello[:]))
	for {
		message, err := readMessage(in)
		if err != nil {
			return
		}
		message.From = from
		if message.Kind&Answer != 0 {
			m.answered(message)
		} else {
			m.handle(message)
		}
	}
}

func (m *Mesh) answered(answer Message) {
	m.mu.Lock()
	arrive := m.asked[answer.ID]
	m.mu.Unlock()
	select {
	case arrive <- answer: // a nil channel, for one that is not awaited, never takes it
	default:
	}
}
