package engine

import (
	"sync"

	"brownout/loadgen/engine/account"
)

// pool caps the reads or the writes in flight of one lane, and queues those that wait
// for a slot: first come, first served, each stream with its own bound.
// Its workers are started when they are first needed and then reused.
type pool struct {
	engine *Engine
	name   string
	cap    int
	// unqueued sheds at once what finds no slot, as a plain cap does.
	unqueued bool

	mu       sync.Mutex
	inFlight int
	idle     []chan *operation
	stopped  bool
	queues   []queue // by stream
	queued   int
}

func newPool(e *Engine, name string, limit int) *pool {
	return &pool{engine: e, name: name, cap: limit, queues: make([]queue, len(e.streams))}
}

// admit takes a slot for the operation or queues it. If its stream's queue is
// full the oldest one there is returned, to be shed.
func (p *pool) admit(o *operation) (admitted bool, shed *operation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.inFlight < p.cap:
		p.inFlight++
		return true, nil
	case p.unqueued:
		return false, o
	}
	return false, p.enqueue(o)
}

// give has a worker do an operation that has a slot.
func (p *pool) give(o *operation) {
	p.mu.Lock()
	var worker chan *operation
	if n := len(p.idle); n > 0 {
		worker = p.idle[n-1]
		p.idle = p.idle[:n-1]
	}
	p.mu.Unlock()
	if worker == nil {
		go p.work(o)
		return
	}
	worker <- o
}

// pass gives the slot of a caller outside the pool to the queued operation that
// was intended first, if there is one.
func (p *pool) pass() {
	if o := p.next(nil); o != nil {
		p.give(o)
	}
}

func (p *pool) enqueue(o *operation) (oldest *operation) {
	q := &p.queues[o.stream.index]
	if q.n >= o.stream.queueCap {
		oldest = q.pop()
		p.queued--
	}
	q.push(o)
	p.queued++
	if p.queued == 1 {
		p.engine.lanes.queues() // under the lock: the sweeping has seen the pool empty, or will look again
	}
	return oldest
}

// work is one worker: it does operations as long as there are any, then waits
// to be woken. A closed channel ends it.
func (p *pool) work(o *operation) {
	woken := make(chan *operation, 1)
	for o != nil {
		p.engine.do(o)
		if o = p.next(woken); o == nil {
			o = <-woken
		}
	}
}

// next is the queued operation that was intended first; without one the slot is
// given back, and the worker, if there is one, is idle.
func (p *pool) next(worker chan *operation) *operation {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queued == 0 {
		p.inFlight--
		if worker != nil && p.stopped {
			close(worker)
		} else if worker != nil {
			p.idle = append(p.idle, worker)
		}
		return nil
	}
	var first *queue
	for i := range p.queues {
		q := &p.queues[i]
		if q.n > 0 && (first == nil || q.head.intended < first.head.intended) {
			first = q
		}
	}
	p.queued--
	return first.pop()
}

// expired removes the queued operations whose deadline has passed, and returns
// whether any other is left.
func (p *pool) expired() (list *operation, left bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queued == 0 {
		return nil, false
	}
	now := p.engine.Now()
	for i := range p.queues {
		q := &p.queues[i]
		for q.n > 0 && q.head.deadline <= now {
			o := q.pop()
			p.queued--
			o.next, list = list, o
		}
	}
	return list, p.queued > 0
}

func (p *pool) state() account.Pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return account.Pool{Name: p.name, Cap: p.cap, InFlight: p.inFlight, Queued: p.queued}
}

// stop ends the workers: those that are idle now, the others when they are.
func (p *pool) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for _, worker := range p.idle {
		close(worker)
	}
}

// queue is a list of operations in the order they were intended, which, within
// one stream, is also the order of their deadlines.
type queue struct {
	head, tail *operation
	n          int
}

func (q *queue) push(o *operation) {
	if q.tail == nil {
		q.head = o
	} else {
		q.tail.next = o
	}
	q.tail = o
	q.n++
}

func (q *queue) pop() *operation {
	o := q.head
	q.head = o.next
	if q.head == nil {
		q.tail = nil
	}
	o.next = nil
	q.n--
	return o
}
