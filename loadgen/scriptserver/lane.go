package scriptserver

import (
	"container/heap"
	"net"
	"sync"
	"time"

	"brownout/loadgen/scriptserver/wire"
)

// lane is one node: it does what it received when that is due, in one order.
type lane struct {
	server *Server
	id     int
	name   string

	mu       sync.Mutex
	listener net.Listener // nil while it refuses
	links    map[*link]struct{}
	spaces   map[string]*space
	decider  *decider
	work     queue
	order    uint64
	free     time.Duration // when the lane has done all that it received, on the server's clock
	held     time.Duration // the end of the freeze whose operations wait or are being done; else 0
	truth    laneTruth
	wake     chan struct{}
}

// batch is how much is done at a time, so that a thaw does not hold up what arrives.
const batch = 256

func newLane(s *Server, id int, name string) *lane {
	return &lane{
		server: s, id: id, name: name, links: map[*link]struct{}{}, spaces: map[string]*space{},
		decider: newDecider(s.script, id), wake: make(chan struct{}, 1), truth: newLaneTruth(),
	}
}

// receive takes an operation in and decides what becomes of it.
func (l *lane) receive(from *link, r *wire.Request) {
	now, t := l.server.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.truth.Received++
	l.truth.timeline.receive(t)
	p := l.decider.decide(t, r.Verb != wire.Get)
	if !p.apply && !p.answer {
		return
	}
	kept := *r
	kept.Value = append([]byte(nil), r.Value...)
	l.order++
	due := l.turnOf(now, t) + p.delay
	heap.Push(&l.work, &job{due: due, received: t, order: l.order, request: kept, plan: p, link: from})
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// turnOf is when an operation received now has been done, one after the other
// at the lane's pace; at once if it has none.
func (l *lane) turnOf(now, t time.Duration) time.Duration {
	pace := l.server.script.pace(l.id, t)
	if pace == 0 {
		return now
	}
	l.free = max(l.free, now) + inSeconds(1/pace)
	return l.free
}

// run does the work until the server ends. The timer is good to a millisecond.
func (l *lane) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-l.wake:
		case <-timer.C:
		case <-l.server.quit:
			return
		}
		if wait, idle := l.turn(); !idle {
			timer.Reset(wait)
		}
	}
}

// turn does what is due and returns how long to wait for the next.
func (l *lane) turn() (wait time.Duration, idle bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, t := l.server.now()
	if end, frozen := l.server.script.frozenUntil(l.id, t); frozen {
		l.held = end
		return end - t, false
	}
	wait, idle = l.doDue(now, t)
	l.noteThaw(now - t)
	return wait, idle
}

// doDue does a batch of what is due.
func (l *lane) doDue(now, t time.Duration) (wait time.Duration, idle bool) {
	for range batch {
		if len(l.work) == 0 {
			return 0, true
		}
		if due := l.work[0].due; due > now {
			return due - now, false
		}
		l.do(heap.Pop(&l.work).(*job), t)
	}
	return 0, false
}

// noteThaw notes when the last operation that a freeze held back is done; the
// script's clock started at zero on the server's.
func (l *lane) noteThaw(zero time.Duration) {
	if l.held == 0 || len(l.work) > 0 && l.work[0].due-zero < l.held {
		return
	}
	_, t := l.server.now()
	for i := range l.server.script.Effects {
		if e := &l.server.script.Effects[i]; e.Effect == Freeze && e.on(l.id) && e.end() == l.held {
			l.truth.thawed[i] = t
		}
	}
	l.held = 0
}

// do applies and answers one operation.
func (l *lane) do(j *job, t time.Duration) {
	answer := wire.Response{ID: j.request.ID, Status: j.plan.status, Cause: j.plan.cause, Code: j.plan.code}
	switch {
	case j.plan.apply:
		l.apply(j, &answer, t)
	case j.plan.status == wire.OK:
		l.truth.wait(l.truth.Lost.add(j, t, 0))
	}
	if j.plan.answer {
		l.truth.Answered++
		if answer.Status == wire.OK || answer.Status == wire.Missing {
			l.truth.timeline.serve(t)
		}
		j.link.out.Response(&answer)
	}
}

func (l *lane) apply(j *job, answer *wire.Response, t time.Duration) {
	in, r := l.space(j.link.namespace), &j.request
	switch r.Verb {
	case wire.Get:
		if answer.Status == wire.OK {
			in.get(r.Key, answer)
		}
		return
	case wire.Increment:
		counter := in.at(r.Key)
		counter.counter++
		answer.Number = counter.counter
	default:
		if before := in.put(r); !j.plan.answer {
			l.truth.wait(l.truth.Late.add(j, t, before))
		} else if answer.Status == wire.OK {
			l.truth.cover(r.Key)
		}
		if j.plan.corrupt {
			in.corrupt(r.Key)
			l.truth.Corrupted.add(j, t, 0)
		}
	}
	l.truth.Applied++
}

func (l *lane) space(namespace string) *space {
	found := l.spaces[namespace]
	if found == nil {
		found = newSpace()
		l.spaces[namespace] = found
	}
	return found
}
