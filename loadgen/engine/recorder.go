package engine

import (
	"time"

	"brownout/loadgen/engine/account"
)

const (
	// tick is how often what is final goes to the sinks.
	tick = 250 * time.Millisecond
	// grace is how long the end of an operation may take to reach the account.
	grace = 50 * time.Millisecond
	// forever is later than every moment of a load.
	forever = time.Duration(1<<63 - 1)
)

// recorder closes the account's buckets and hands the reports to the sinks.
type recorder struct {
	engine *Engine
	finish chan struct{}
	done   chan struct{}
}

func newRecorder(e *Engine) *recorder {
	return &recorder{engine: e, finish: make(chan struct{}), done: make(chan struct{})}
}

func (r *recorder) run() {
	defer close(r.done)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-r.finish:
			r.last()
			return
		case <-ticker.C:
			now := r.engine.Now()
			until := min(now-grace, time.Duration(r.engine.reached.Load()),
				time.Duration(r.engine.heartbeat.reached.Load()))
			r.report(now, until, until)
		}
	}
}

// stop hands out the last report. It is called once.
func (r *recorder) stop() {
	close(r.finish)
	<-r.done
}

// last closes every bucket that took part, up to the end of the drain.
func (r *recorder) last() {
	now := r.engine.Now()
	r.report(now, now+2*account.Width, now.Truncate(time.Second)+time.Second)
}

// report hands out the buckets that end, and the seconds that are over, by then.
func (r *recorder) report(now, buckets, seconds time.Duration) {
	e := r.engine
	report := account.Report{
		At: now, Slots: e.book.Slots(),
		Batch:     e.book.Close(buckets),
		Intervals: e.book.Intervals(seconds),
		Self:      e.watch.seconds(now),
		Pools:     e.lanes.states(),
	}
	e.heartbeat.learn(report.Batch.Series)
	report.Lanes = e.book.Lanes() // after Close: every lane of the batch is known
	for _, sink := range e.sinks {
		if e.failed.Load() != nil {
			break
		}
		if err := sink.Take(&report); err != nil {
			e.fail(err)
		}
	}
	for _, interval := range report.Intervals {
		e.book.Recycle(interval)
	}
}
