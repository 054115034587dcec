package engine

import (
	"sync"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/spec"
)

// maxLanes bounds the failure domains that are told apart; what a driver names
// beyond that shares one lane.
const maxLanes = 1024

// sweepEvery is how soon queued operations past their deadline are noticed.
const sweepEvery = 5 * time.Millisecond

// lane is one failure domain. Reads and writes have slots of their own: writes that hang take none
// from reads, as they take no connection from them in the driver.
type lane struct {
	id     int // in the account
	name   string
	reads  *pool
	writes *pool
}

// poolOf is where operations of a kind find their slots.
func (l *lane) poolOf(kind driver.Kind) *pool {
	if kind.Write() {
		return l.writes
	}
	return l.reads
}

// lanes finds the lane of an operation by its name.
type lanes struct {
	engine *Engine
	cap    int
	global *pool // nil unless one cap, without a queue, replaces those of the lanes

	mu     sync.RWMutex
	byName map[string]*lane
	pools  []*pool
	queued chan struct{} // holds one if a pool has begun to queue
	finish chan struct{}
	swept  chan struct{}
}

func newLanes(e *Engine, s *spec.Spec, driverCap int) *lanes {
	l := &lanes{engine: e, cap: max(driverCap, 1), byName: map[string]*lane{}}
	l.queued, l.finish, l.swept = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	if s.LaneCap > 0 {
		l.cap = s.LaneCap
	}
	if s.GlobalCap > 0 {
		l.global = newPool(e, "global", s.GlobalCap)
		l.global.unqueued = true
		l.pools = []*pool{l.global}
	}
	return l
}

// of returns the lane called name, made if it is new.
func (l *lanes) of(name string) *lane {
	l.mu.RLock()
	found := l.byName[name]
	l.mu.RUnlock()
	if found != nil {
		return found
	}
	return l.add(name)
}

func (l *lanes) add(name string) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.byName) >= maxLanes {
		name = "others"
	}
	if found := l.byName[name]; found != nil {
		return found
	}
	created := &lane{id: l.engine.book.Lane(name), name: name, reads: l.global, writes: l.global}
	if l.global == nil {
		created.reads, created.writes = newPool(l.engine, name, l.cap), newPool(l.engine, name, l.cap)
		l.pools = append(l.pools, created.reads, created.writes)
	}
	l.byName[name] = created
	return created
}

func (l *lanes) all() []*pool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.pools[:len(l.pools):len(l.pools)]
}

// sweep sheds queued operations soon after their deadline, until stop. It sleeps
// while nothing is queued.
func (l *lanes) sweep() {
	defer close(l.swept)
	for {
		select {
		case <-l.finish:
			return
		case <-l.queued:
		}
		for l.shedExpired() {
			select {
			case <-l.finish:
				return
			case <-time.After(sweepEvery):
			}
		}
	}
}

// queues wakes the sweeping.
func (l *lanes) queues() {
	select {
	case l.queued <- struct{}{}:
	default:
	}
}

// shedExpired returns whether anything is still queued.
func (l *lanes) shedExpired() (left bool) {
	for _, p := range l.all() {
		o, waits := p.expired()
		left = left || waits
		for o != nil {
			next := o.next
			l.engine.shed(o, "")
			o = next
		}
	}
	return left
}

// stop ends the sweeping and the idle workers. It is called once.
func (l *lanes) stop() {
	close(l.finish)
	<-l.swept
	for _, p := range l.all() {
		p.stop()
	}
}

func (l *lanes) states() []account.Pool {
	var states []account.Pool
	at := map[string]int{} // of a lane
	for _, p := range l.all() {
		state := p.state()
		if i, more := at[state.Name]; more {
			states[i].Cap += state.Cap
			states[i].InFlight += state.InFlight
			states[i].Queued += state.Queued
			continue
		}
		at[state.Name] = len(states)
		states = append(states, state)
	}
	return states
}
