package engine

import (
	"sync"
	"time"

	"brownout/loadgen/engine/pace"
)

// The schedule is looked at when the next arrival is due, but no later than after longestSleep,
// which is well below the recorder's grace, and no earlier than after shortestSleep: arrivals that
// come faster are offered together.
const (
	longestSleep  = 20 * time.Millisecond
	shortestSleep = 200 * time.Microsecond
)

// runners is how many operations may be done by who was woken for their arrival. They are enough
// for rate × service time at moderate rates; beyond that, workers of the lanes do the operations.
const runners = 16

// pacer offers the operations of all open-loop streams at their intended times.
//
// Its runners take turns. One of them leads: it sleeps until the next arrival and offers what is
// due. If one of these operations is its own to do, it first sets the alarm of a runner that waits,
// which leads from then on without waking up before the arrival after that. So no goroutine
// wakes another: the arrival wakes a goroutine, and that one does the operation.
type pacer struct {
	engine    *Engine
	streams   []*stream
	schedules []*pace.Schedule // like streams; the leader's

	mu      sync.Mutex
	leader  *runner
	waiting []*runner // the last one is the next to lead
	over    bool
}

// runner is a goroutine of the pacer.
type runner struct{ alarm pace.Alarm }

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

// start starts the runners; the engine's pacing is done when the schedule has ended.
func (p *pacer) start() {
	p.leader = &runner{p.engine.newAlarm()}
	p.engine.pacing.Add(1)
	go p.run(p.leader)
	for range runners - 1 {
		go p.run(&runner{p.engine.newAlarm()})
	}
}

func (p *pacer) run(r *runner) {
	defer r.alarm.Close()
	for p.await(r) {
		p.lead(r)
	}
}

// await waits until the runner is the leader; it returns false when the schedule has ended.
func (p *pacer) await(r *runner) bool {
	listed := false
	r.alarm.Wait(func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.leader == r || p.over {
			return true
		}
		if !listed { // not before the alarm can be heard
			p.waiting, listed = append(p.waiting, r), true
		}
		return false
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.over
}

// lead offers what becomes due until one of the operations is the leader's own to do, which it is
// once another runner leads, or until the schedule ends.
func (p *pacer) lead(r *runner) {
	e := p.engine
	for !e.stopping.Load() {
		own, next := p.batch(e.Now())
		next = max(next, e.Now()+shortestSleep)
		if own != nil && p.pass(next) {
			e.doAndPass(own)
			return
		}
		if own != nil {
			own.slots().give(own)
		}
		r.alarm.Wait(func() bool {
			left := next - e.Now()
			if left > 0 {
				r.alarm.Set(left)
			}
			return left <= 0
		})
	}
	p.finish()
}

// pass makes a runner that waits the leader, and its alarm go off at next; it returns false if none
// waits.
func (p *pacer) pass(next time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.waiting)
	if n == 0 {
		return false
	}
	p.leader = p.waiting[n-1]
	p.waiting = p.waiting[:n-1]
	p.leader.alarm.Set(max(next-p.engine.Now(), 1))
	return true
}

// finish offers what was intended before the end of the schedule, and ends the runners.
func (p *pacer) finish() {
	if own, _ := p.batch(p.engine.ended); own != nil {
		own.slots().give(own)
	}
	p.engine.reached.Store(int64(forever))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for _, r := range p.waiting {
		r.alarm.Set(1)
	}
	p.engine.pacing.Done()
}

// batch offers everything intended up to now. It returns the last operation of those that have a
// slot, for the leader to do, and when to come back.
func (p *pacer) batch(now time.Duration) (own *operation, next time.Duration) {
	next = now + longestSleep
	for i, schedule := range p.schedules {
		own = p.due(p.streams[i], schedule, now, own)
		next = min(next, schedule.Next())
	}
	p.engine.reached.Store(int64(now))
	return own, next
}

// due offers everything that one stream intended up to now. The lag is taken
// at the decision to send, operation by operation: a long batch shows.
func (p *pacer) due(s *stream, schedule *pace.Schedule, now time.Duration, own *operation) *operation {
	for {
		intended, missed, ok := schedule.Due(now)
		if !ok {
			return own
		}
		p.engine.watch.lagged(p.engine.Now() - intended)
		o := p.engine.offer(s, intended, missed, nil)
		if o == nil {
			continue
		}
		if own != nil {
			own.slots().give(own)
		}
		own = o
	}
}
