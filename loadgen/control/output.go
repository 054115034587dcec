package control

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// backlog bounds the events that wait for a reader who does not read.
const backlog = 256

// output writes events without ever holding up the load: live figures that
// are not read are dropped, other events wait only a moment.
type output struct {
	lines  chan []byte
	done   chan struct{}
	mu     sync.Mutex
	closed bool
}

func newOutput(to io.Writer) *output {
	o := &output{lines: make(chan []byte, backlog), done: make(chan struct{})}
	go func() {
		defer close(o.done)
		for line := range o.lines {
			_, _ = to.Write(line) // without a reader the load continues
		}
	}()
	return o
}

// send writes an event, waiting a little if the reader is behind.
func (o *output) send(e event) {
	o.put(e, time.Second)
}

// offer writes an event unless the reader is behind.
func (o *output) offer(e event) {
	o.put(e, 0)
}

func (o *output) put(e event, patience time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, err := json.Marshal(e)
	if err != nil || o.closed {
		return
	}
	line := append(text, '\n')
	select {
	case o.lines <- line:
		return
	default:
	}
	if patience == 0 {
		return
	}
	select {
	case o.lines <- line:
	case <-time.After(patience):
	}
}

// close writes what waits, but not for ever.
func (o *output) close() {
	o.mu.Lock()
	o.closed = true
	close(o.lines)
	o.mu.Unlock()
	select {
	case <-o.done:
	case <-time.After(2 * time.Second):
	}
}
