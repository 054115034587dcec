// Package engine applies a steady load to one database and keeps the books.
//
//	arrivals ──▶ stream ──▶ lane (queue, cap) ──▶ worker ──▶ driver
//	   │ missed      │ keys busy    │ shed           │ ok, late, failed, in doubt
//	   └─────────────┴──────────────┴────────────────┴──────▶ account ──▶ sinks
//
// The schedule never looks at the answers: an outage neither slows nor pauses
// it, and nothing is caught up with afterwards. Everything in flight or queued
// is bounded per lane, so one dead node cannot use up what the others need.
package engine

import (
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/engine/pace"
	"brownout/loadgen/ledger"
	"brownout/loadgen/spec"
)

// Engine runs one load once: New, Start, Stop.
type Engine struct {
	spec    *spec.Spec
	driver  driver.Driver
	book    *account.Book
	streams []*stream
	values  []*values // like the data sets
	lanes   *lanes
	watch   *watch
	sinks   []account.Sink
	onFail  func(error)
	// newAlarm is replaced where time is simulated.
	newAlarm    func() pace.Alarm
	timesItself bool

	t0        time.Time
	operation sync.Pool
	alive     atomic.Int64 // operations offered and not yet ended
	reached   atomic.Int64 // every start intended up to here is booked
	offering  sync.RWMutex // held by closed loops while they offer
	stopping  atomic.Bool
	ended     time.Duration // when the schedule did, once stopping
	pacing    sync.WaitGroup
	recorder  *recorder
	heartbeat *heartbeat
	stopOnce  sync.Once
	result    Ending
	failed    atomic.Pointer[error]
	remade    remade
	suspects  suspects
}

// New prepares a load. If one of its sinks fails, the load stops by itself and
// onFail is called once, from a goroutine of its own.
func New(s *spec.Spec, d driver.Driver, onFail func(error)) *Engine {
	e := &Engine{spec: s, driver: d, onFail: onFail, newAlarm: pace.NewAlarm, timesItself: timesItself(d)}
	e.operation.New = func() any { return new(operation) }
	for _, set := range s.Data.AllSets() {
		e.values = append(e.values, newValues(s.Seed, set))
	}
	var slots []account.Slot
	for i := range s.Streams {
		e.streams = append(e.streams, newStream(s, i, len(slots), e.values, inDoubtOf(d, i)))
		for _, kind := range s.Streams[i].Kinds() {
			slots = append(slots, account.Slot{Stream: s.Streams[i].Name, Op: kind})
		}
	}
	e.addSources()
	e.book = account.NewBook(slots)
	e.lanes = newLanes(e, s, d.LaneCap())
	return e
}

// ReportTo adds sinks before the start. Each report goes to all, in order.
func (e *Engine) ReportTo(sinks ...account.Sink) { e.sinks = append(e.sinks, sinks...) }

// Lead is the time to write down the start of the schedule before it comes.
const Lead = 20 * time.Millisecond

// Start begins the schedule at t0, which is still to come, at least Lead away if it was
// not chosen by the caller. It calls begin, whose error means that there is no load.
func (e *Engine) Start(t0 time.Time, begin func(t0 time.Time) error) error {
	e.t0 = t0
	if err := begin(e.t0); err != nil {
		return err
	}
	e.driver.Started(e.t0)
	time.Sleep(time.Until(e.t0))
	e.watch = newWatch()
	e.recorder = newRecorder(e)
	e.heartbeat = newHeartbeat(e)
	newPacer(e).start()
	for _, s := range e.streams {
		for range s.spec.Concurrency {
			go e.work(s)
		}
	}
	e.heartbeat.start()
	go e.lanes.sweep()
	go e.recorder.run()
	return nil
}

// Now is the time since the schedule's start; it continues after the stop.
func (e *Engine) Now() time.Duration { return time.Since(e.t0) }

// Stop ends the schedule, waits for what is in flight, and hands the last
// report to the sinks. Further calls return the same ending. The error is that
// of a sink.
func (e *Engine) Stop() (Ending, error) {
	e.stopOnce.Do(func() {
		e.endSchedule()
		e.pacing.Wait()
		e.heartbeat.stop()
		undrained := e.drain()
		e.lanes.stop()
		e.recorder.stop()
		e.result = e.ending(undrained)
	})
	if failed := e.failed.Load(); failed != nil {
		return e.result, *failed
	}
	return e.result, nil
}

// inDoubtOf is how long a write of a stream that is in doubt may still take effect.
func inDoubtOf(d driver.Driver, stream int) time.Duration {
	if apart, is := d.(interface {
		InDoubtOf(stream int) time.Duration
	}); is {
		return apart.InDoubtOf(stream)
	}
	return d.InDoubtFor()
}

// endSchedule stops offering operations; the bucket of this moment is partial.
func (e *Engine) endSchedule() {
	e.offering.Lock()
	defer e.offering.Unlock()
	if !e.stopping.Load() {
		e.ended = e.Now()
		e.book.Finish(e.ended)
		e.stopping.Store(true)
	}
}

// drain waits until every operation has ended: at most until the longest
// deadline, and some time for drivers that are slow to notice it.
func (e *Engine) drain() (undrained int64) {
	limit := 5*time.Second + e.driver.InDoubtFor()
	for _, s := range e.streams {
		limit = max(limit, s.deadline+5*time.Second+e.driver.InDoubtFor())
	}
	for start := time.Now(); e.alive.Load() > 0 && time.Since(start) < limit; {
		time.Sleep(2 * time.Millisecond)
	}
	return e.alive.Load()
}

// fail ends the load because its records cannot be kept.
func (e *Engine) fail(err error) {
	if e.failed.CompareAndSwap(nil, &err) {
		e.endSchedule()
		go e.onFail(err)
	}
}

// Dataset is what has to be loaded before the start.
func (e *Engine) Dataset() driver.Dataset {
	return driver.Dataset{
		Share: e.spec.Part,
		Keys:  e.spec.Data.Keys, ValueBytes: e.spec.Data.ValueBytes,
		Concurrency: e.spec.Data.LoadConcurrency, Writer: e.spec.Writer,
		Ledger: e.spec.LedgerSets(), Layout: e.spec.Data.Layout(), Value: e.valueOf,
		Intact: e.DataIntact,
		LedgerValue: func(stream int, key uint64) ([]byte, int) {
			values := e.streams[stream].values
			return values.of(key), values.set.Fields
		},
	}
}

// valueOf returns what a key of the plain data is loaded with, in how many fields.
func (e *Engine) valueOf(key uint64) ([]byte, int) {
	for _, values := range e.values {
		if key < values.set.Keys {
			return values.of(key), values.set.Fields
		}
		key -= values.set.Keys
	}
	panic("key out of range")
}

// Ledger lists the key spaces of the verified streams.
func (e *Engine) Ledger() (sets []*ledger.Set) {
	for _, s := range e.streams {
		for _, set := range []*ledger.Set{s.registers, s.counters} {
			if set != nil {
				sets = append(sets, set)
			}
		}
	}
	return sets
}

// Book gives read access to the account.
func (e *Engine) Book() *account.Book { return e.book }

// seedFor derives independent random sequences from one seed.
func seedFor(seed uint64, what string, name string) (uint64, uint64) {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s/%s", what, name)
	return seed, hash.Sum64()
}
