package engine

import (
	"time"

	"brownout/loadgen/engine/pace"
)

// The scheduler wakes for the next arrival, but waits no longer than
// longestBatch, and no shorter than shortestBatch: arrivals that come faster
// are sent together.
const (
	longestBatch  = time.Millisecond
	shortestBatch = 200 * time.Microsecond
)

// waiter sleeps between batches.
type waiter interface {
	Wait(time.Duration)
	Close()
}

func newWaiter() waiter { return pace.NewWaiter() }

// pacer offers the operations of all open-loop streams at their intended times.
type pacer struct {
	engine    *Engine
	streams   []*stream
	schedules []*pace.Schedule // like streams
}

func newPacer(e *Engine) *pacer {
	p := &pacer{engine: e}
	for _, s := range e.streams {
		if s.spec.Open() {
			p.streams = append(p.streams, s)
			p.schedules = append(p.schedules, pace.NewSchedule(s.arrivals(e.spec.Seed), s.deadline))
		}
	}
	return p
}

func (p *pacer) run() {
	waiter := p.engine.newWaiter()
	defer waiter.Close()
	for !p.engine.stopping.Load() {
		next := p.batch(p.engine.Now())
		waiter.Wait(max(next-p.engine.Now(), shortestBatch))
	}
	p.batch(p.engine.ended) // nothing that was intended before the end is left out
	p.engine.reached.Store(int64(forever))
}

// batch offers everything intended up to now and returns when to come back.
func (p *pacer) batch(now time.Duration) (next time.Duration) {
	next = now + longestBatch
	for i, schedule := range p.schedules {
		p.due(p.streams[i], schedule, now)
		next = min(next, schedule.Next())
	}
	p.engine.reached.Store(int64(now))
	return next
}

// due offers everything that one stream intended up to now. The lag is taken
// at the decision to send, operation by operation: a long batch shows.
func (p *pacer) due(s *stream, schedule *pace.Schedule, now time.Duration) {
	for {
		intended, missed, ok := schedule.Due(now)
		if !ok {
			return
		}
		p.engine.watch.lagged(p.engine.Now() - intended)
		if o := p.engine.offer(s, intended, missed, nil); o != nil {
			o.lane.pool.give(o)
		}
	}
}
