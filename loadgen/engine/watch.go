package engine

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"brownout/loadgen/engine/account"
)

// watch is the generator watching itself: a load that was not scheduled in time
// measures the generator, not the database.
type watch struct {
	mu     sync.Mutex
	second *hdr.Histogram // lags of the current second, in µs
	whole  *hdr.Histogram

	next    time.Duration // end of the current second
	cpu     time.Duration // at the schedule's start
	gcPause float64       // seconds, at the last row
}

func newWatch() *watch {
	return &watch{
		second: hdr.New(1, 60_000_000, 3), whole: hdr.New(1, 60_000_000, 3),
		next: time.Second, cpu: cpuTime(), gcPause: gcPauses(),
	}
}

// lagged records how late the scheduler reached an arrival.
func (w *watch) lagged(lag time.Duration) {
	us := min(max(lag.Microseconds(), 1), 60_000_000)
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.second.RecordValue(us) // inside the range
	_ = w.whole.RecordValue(us)
}

func (w *watch) lagP99() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.whole.ValueAtPercentile(99)) * time.Microsecond
}

// seconds returns a row for each second that is over. If more than one is, the
// generator itself stood still, and the rows share what was seen.
func (w *watch) seconds(now time.Duration) (rows []account.Self) {
	if now < w.next {
		return nil
	}
	row := w.look()
	for ; w.next <= now; w.next += time.Second {
		row.At = w.next - time.Second
		rows = append(rows, row)
	}
	return rows
}

func (w *watch) look() account.Self {
	pauses := gcPauses()
	w.mu.Lock()
	defer w.mu.Unlock()
	row := account.Self{
		LagP99:     time.Duration(w.second.ValueAtPercentile(99)) * time.Microsecond,
		LagMax:     time.Duration(w.second.Max()) * time.Microsecond,
		GCPause:    time.Duration((pauses - w.gcPause) * float64(time.Second)),
		CPU:        cpuTime() - w.cpu,
		RSS:        residentBytes(),
		Goroutines: runtime.NumGoroutine(),
	}
	w.gcPause = pauses
	w.second.Reset()
	return row
}

// gcPauses is the time, in seconds, that the collector has stopped everything.
func gcPauses() float64 {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	histogram, sum := sample[0].Value.Float64Histogram(), 0.0
	for i, n := range histogram.Counts {
		if n > 0 {
			sum += float64(n) * max(histogram.Buckets[i], 0) // the lower bound
		}
	}
	return sum
}
