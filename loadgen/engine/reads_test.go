package engine

import (
	"context"
	"sync"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/spec"
)

// lagging is a database of registers, of which reads see what was there a while ago.
type lagging struct {
	lag time.Duration

	mu      sync.Mutex
	written map[string][]write
}

type write struct {
	record driver.Record
	at     time.Time
}

func (l *lagging) do(_ context.Context, op *driver.Op) driver.Result {
	time.Sleep(time.Millisecond)
	l.mu.Lock()
	defer l.mu.Unlock()
	if op.Kind.Write() {
		l.written[op.ID] = append(l.written[op.ID], write{op.Record, time.Now()})
		return drivertest.OK()
	}
	result := drivertest.OK()
	result.Record = &driver.Record{Writer: "run", Seq: 1}
	for i, each := range l.written[op.ID] {
		if time.Since(each.at) >= l.lag {
			result.Record = &l.written[op.ID][i].record
		}
	}
	return result
}

func checkedReads(t *testing.T, lag time.Duration, change func(*spec.Stream)) (lanes []*CheckedReads, stale []*StaleRead) {
	t.Helper()
	s := oneStream(func(stream *spec.Stream) {
		stream.Mix = map[string]float64{"read": 0.5, "update": 0.5}
		stream.Verified, stream.LedgerKeys, stream.Reads, stream.ReadsFrom = true, 10, spec.Session, "a replica"
		if change != nil {
			change(stream)
		}
	})
	db := &lagging{lag: lag, written: map[string][]write{}}
	fake := &drivertest.Fake{Answer: db.do, Lanes: func(op *driver.Op) string {
		if op.Kind.Write() {
			return "primary"
		}
		return "replica"
	}}
	simulateThen(t, s, fake, 5*time.Second, func(e *Engine) {
		err := e.CheckedReads(func(line any) error {
			switch line := line.(type) {
			case *CheckedReads:
				lanes = append(lanes, line)
			case *StaleRead:
				stale = append(stale, line)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	return lanes, stale
}

func TestReadsOfACopyThatLagsAreStaleAndOfOneThatDoesNotAreNone(t *testing.T) {
	for _, lag := range []time.Duration{0, time.Second} {
		lanes, listed := checkedReads(t, lag, nil)
		var replica *CheckedReads
		for _, lane := range lanes {
			if lane.Lane == "replica" {
				replica = lane
			}
		}
		if replica == nil || replica.Checked < 2000 || replica.From != "a replica" || replica.Dirty != 0 || replica.Session != 0 {
			t.Fatalf("lag %v: %+v", lag, replica)
		}
		if lag == 0 {
			if replica.Stale != 0 || replica.FirstT != nil || len(listed) != 0 {
				t.Errorf("nothing lags: %+v, %+v", replica, listed)
			}
			continue
		}
		if replica.Stale < 2000 || replica.StaleS < 0.5 || replica.StaleS > 1 || replica.StaleMissed < 20 || len(listed) != 20 {
			t.Errorf("a lag of %v: %+v, %d listed", lag, replica, len(listed))
		}
	}
}

func TestReadsThatTheDriverDoesNotLookIntoAreNotChecked(t *testing.T) {
	lanes, _ := checkedReads(t, 0, func(stream *spec.Stream) {
		stream.Mix, stream.BatchKeys = map[string]float64{"batch": 0.5, "update": 0.5}, 3
	})
	for _, lane := range lanes {
		if lane.Checked != 0 {
			t.Errorf("%+v", lane)
		}
	}
}
