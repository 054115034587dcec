package wire

import (
	"net"
	"sync"
)

// mostBuffered is when a peer that does not read is given up.
const mostBuffered = 64 << 20

// Writer sends frames in a goroutine of its own, those that came together
// together. An append never waits for the peer.
type Writer struct {
	conn   net.Conn
	mu     sync.Mutex
	ready  sync.Cond
	frames []byte
	closed bool
}

// NewWriter returns a writer to conn, which it closes at its own end.
func NewWriter(conn net.Conn) *Writer {
	w := &Writer{conn: conn}
	w.ready.L = &w.mu
	go w.run()
	return w
}

// Request appends a request.
func (w *Writer) Request(r *Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = AppendRequest(w.frames, r)
	w.ready.Signal()
}

// Response appends a response.
func (w *Writer) Response(r *Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = AppendResponse(w.frames, r)
	w.ready.Signal()
}

func (w *Writer) run() {
	var sending []byte
	for {
		w.mu.Lock()
		for len(w.frames) == 0 && !w.closed {
			w.ready.Wait()
		}
		if w.closed || len(w.frames) > mostBuffered {
			w.mu.Unlock()
			break
		}
		sending, w.frames = w.frames, sending[:0]
		w.mu.Unlock()
		if _, err := w.conn.Write(sending); err != nil {
			break
		}
	}
	_ = w.conn.Close()
}

// Close ends the connection at once, without sending the rest.
func (w *Writer) Close() {
	if tcp, ok := w.conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // the peer sees a reset
	}
	_ = w.conn.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.ready.Signal()
}
