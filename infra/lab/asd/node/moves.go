package node

import (
	"sync"
	"time"

	"brownout/infra/lab/asd/nodeid"
)

// moves counts the migrations of the current cluster.
type moves struct {
	mu                                  sync.Mutex
	outInitial, out, outLead, outActive int
	inInitial, in                       int
	signals, instances                  int
	sent, received, skipped             uint64
}

func (m *moves) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outInitial, m.out, m.outLead, m.inInitial, m.in, m.signals = 0, 0, 0, 0, 0, 0
}

func (m *moves) expect(in, out, lead, signals int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inInitial, m.in = m.inInitial+in, m.in+in
	m.outInitial, m.out = m.outInitial+out, m.out+out
	m.outLead += lead
	m.signals += signals
}

func (m *moves) expected() (out, in, signals int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.outInitial, m.inInitial, m.signals
}

// remaining returns what is still to be sent and received.
func (m *moves) remaining() (out, in int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.out, m.in
}

// change applies f to the numbers under their lock.
func (m *moves) change(f func(*moves)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m)
}

// task is one migration: a partition to one node, or without records the news that all is done.
type task struct {
	pid    int
	to     nodeid.ID
	key    uint64
	lead   bool
	acting bool // the sender is the working master and hands that over
	signal bool
}

// taskQueue holds the migrations that are to begin.
type taskQueue struct {
	mu      sync.Mutex
	waiting []task
	more    chan struct{}
}

func newTaskQueue() *taskQueue { return &taskQueue{more: make(chan struct{}, 1)} }

func (q *taskQueue) add(tasks ...task) {
	q.mu.Lock()
	q.waiting = append(q.waiting, tasks...)
	q.mu.Unlock()
	q.wake()
}

// wake lets one who waits look again.
func (q *taskQueue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *taskQueue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = nil
}

// take removes the next task; false if there is none.
func (q *taskQueue) take() (task, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return task{}, false
	}
	next := q.waiting[0]
	q.waiting = q.waiting[1:]
	if len(q.waiting) > 0 {
		q.wake() // there is work for another one, too
	}
	return next, true
}

// pacer stretches work to the time that it is to take, in naps worth their overhead.
type pacer struct{ pending time.Duration }

const shortestNap = 2 * time.Millisecond

func (p *pacer) add(d time.Duration) {
	p.pending += d
	if p.pending >= shortestNap {
		start := time.Now()
		time.Sleep(p.pending)
		p.pending -= time.Since(start)
	}
}
