package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"brownout/loadgen/engine/account"
	"brownout/loadgen/engine/pace"
)

const (
	// stoodStill is the shortest time between two beats in which a busy loop missed something: of the
	// mean of a second it is 5 %, and a smaller loss does not count as a dip.
	stoodStill = 50 * time.Millisecond
	// beatEvery is how often a generator with a closed loop looks whether it still runs.
	beatEvery = 20 * time.Millisecond
	// usualOver is the time over which the usual rate of a closed loop is a mean.
	usualOver = 10 * time.Second
)

// heartbeat tells a generator that stood still from a database that did. An open loop knows by its
// schedule; a closed loop has none, and while it stands still it offers nothing, just as it does
// while all its workers wait. A beat that is late is the generator's own: what its closed loops
// usually do in that time is booked as missed.
type heartbeat struct {
	engine  *Engine
	loops   []*loop
	last    time.Duration // the beat before
	reached atomic.Int64  // what was missed up to here is booked
	quit    chan struct{}
	done    chan struct{}
	mu      sync.Mutex // guards what is usual
}

// loop is what a closed-loop stream usually does.
type loop struct {
	slots  []int
	usual  []usual   // like slots
	rest   []float64 // likewise: parts of operations that are not booked yet
	lately lately
}

// lately is how much a loop had offered at each of the last beats.
type lately struct {
	at      [6]time.Duration
	offered [6]uint64
	n       int
}

func newHeartbeat(e *Engine) *heartbeat {
	h := &heartbeat{engine: e, quit: make(chan struct{}), done: make(chan struct{})}
	for _, s := range e.streams {
		if s.spec.Open() {
			continue
		}
		l := &loop{}
		for i := range s.kinds {
			l.slots = append(l.slots, s.firstSlot+i)
		}
		l.usual, l.rest = make([]usual, len(l.slots)), make([]float64, len(l.slots))
		h.loops = append(h.loops, l)
	}
	if len(h.loops) == 0 {
		h.reached.Store(int64(forever))
	}
	return h
}

// start begins to beat, unless every loop is open.
func (h *heartbeat) start() {
	if len(h.loops) == 0 {
		close(h.done)
		return
	}
	go h.run()
}

func (h *heartbeat) run() {
	defer close(h.done)
	timer := time.NewTicker(beatEvery)
	defer timer.Stop()
	for {
		select {
		case <-h.quit:
			h.beat(h.engine.ended)
			return
		case <-timer.C:
			h.beat(h.engine.Now())
		}
	}
}

// stop ends the beats at the end of the schedule; what was missed is booked then.
func (h *heartbeat) stop() {
	close(h.quit)
	<-h.done
	h.reached.Store(int64(forever))
}

// beat records how late each beat since the last one is, which are several if the generator stood
// still, and books what was missed meanwhile. In a short time that is nothing for a loop that hardly
// offered anything just before: its workers wait, and answers may be as late as in an open loop.
func (h *heartbeat) beat(now time.Duration) {
	if now < h.last { // the schedule ended before
		return
	}
	for due := h.last + beatEvery; due <= now; due += beatEvery {
		h.engine.watch.lagged(now - due)
	}
	for _, loop := range h.loops {
		if rates := h.rates(loop); h.late(now, loop, rates) {
			h.engine.book.Missed(loop.slots, rates, loop.rest, h.last, now)
		}
		loop.lately.add(now, h.engine.book.OfferedBy(loop.slots))
	}
	h.last = now
	h.reached.Store(int64(now))
}

// late says whether a loop missed something until now.
func (h *heartbeat) late(now time.Duration, l *loop, rates []float64) bool {
	stood := now - h.last
	return stood > pace.LateAfter || stood >= stoodStill && l.lately.rate() >= sum(rates)/2
}

func (l *lately) add(at time.Duration, offered uint64) {
	place := l.n % len(l.at)
	l.at[place], l.offered[place] = at, offered
	l.n++
}

// rate is operations per second over the last beats; 0 before there are as many.
func (l *lately) rate() float64 {
	if l.n < len(l.at) {
		return 0
	}
	first, last := l.n%len(l.at), (l.n-1)%len(l.at)
	return float64(l.offered[last]-l.offered[first]) / (l.at[last] - l.at[first]).Seconds()
}

// learn takes in what the closed loops did in buckets that are final. One in which the generator
// stood still says nothing about what is usual.
func (h *heartbeat) learn(rows []account.Row) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range rows {
		if rows[i].Ends[account.Missed] > 0 {
			continue
		}
		for _, loop := range h.loops {
			if place := rows[i].Slot - loop.slots[0]; place >= 0 && place < len(loop.slots) {
				loop.usual[place].add(rows[i].Ends[account.Ok])
			}
		}
	}
}

// rates are a loop's usual operations per second, like its slots.
func (h *heartbeat) rates(l *loop) []float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	rates := make([]float64, len(l.usual))
	for i := range l.usual {
		rates[i] = l.usual[i].rate()
	}
	return rates
}

func sum(values []float64) (all float64) {
	for _, value := range values {
		all += value
	}
	return all
}

// usual is the highest mean of the successes of one slot over usualOver: what could have been
// served at best. Before there is as much, it is the mean so far.
type usual struct {
	last  [usualOver / account.Width]uint64
	n     int
	sum   uint64
	most  uint64 // the highest sum of as many buckets as there are in last
	ready bool   // there was such a sum
}

func (u *usual) add(ok uint64) {
	place := u.n % len(u.last)
	u.sum += ok - u.last[place]
	u.last[place] = ok
	u.n++
	if u.n >= len(u.last) {
		u.most, u.ready = max(u.most, u.sum), true
	}
}

func (u *usual) rate() float64 {
	if u.ready {
		return float64(u.most) / usualOver.Seconds()
	}
	return float64(u.sum) / (max(float64(u.n), 1) * account.Width.Seconds())
}
