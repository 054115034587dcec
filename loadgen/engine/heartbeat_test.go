package engine

import (
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/spec"
)

// beating returns the heartbeat of a closed loop, of two thirds reads, that has done 300
// operations/s for 12 s, and beaten in time. The load is over but for what a test does.
func beating(t *testing.T) (*Engine, *heartbeat) {
	t.Helper()
	s := closedLoop(2)
	s.Streams = append(s.Streams, oneStream(func(s *spec.Stream) { s.Name = "open" }).Streams[0])
	e := New(s, &drivertest.Fake{}, func(error) {})
	e.watch = newWatch()
	h := newHeartbeat(e)
	for at := time.Duration(0); at < 12*time.Second; at += account.Width {
		h.beat(at)
		do(e, at, 30)
		h.learn(e.book.Close(at + account.Width).Series)
	}
	h.beat(12 * time.Second)
	return e, h
}

// do books operations of the closed loop in a bucket.
func do(e *Engine, at time.Duration, n int) {
	for i := range n {
		slot := 0
		if i%3 == 2 {
			slot = 1
		}
		bucket := e.book.Offered(slot, account.NoLane, at)
		e.book.Ended(&account.Ending{Slot: slot, Lane: account.NoLane, Bucket: bucket, At: at, End: account.Ok})
	}
}

// missed are the operations that were missed by slot and bucket, which have to be the same in both
// views.
func missed(t *testing.T, batch account.Batch, slot int) (by []uint64) {
	t.Helper()
	for i, row := range batch.Series {
		if born := batch.Outcomes[i]; born.Ends[account.Missed] != row.Ends[account.Missed] || born.Offered != row.Offered {
			t.Fatalf("%+v by completion, %+v by intended start", row, born)
		}
		if row.Slot == slot {
			by = append(by, row.Ends[account.Missed])
		}
	}
	return by
}

func sumOf(counts []uint64) (sum uint64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

func TestAGeneratorThatStoodStillHasMissedWhatItsClosedLoopsUsuallyDo(t *testing.T) {
	e, h := beating(t)
	if e.spec.Streams[0].Kinds()[0] != driver.Read {
		t.Fatal("the first slot is not of the reads")
	}
	h.beat(15 * time.Second)
	batch := e.book.Close(15 * time.Second)
	for slot, wanted := range []uint64{20, 10, 0, 0} {
		by := missed(t, batch, slot)
		for bucket, n := range by {
			if n != wanted {
				t.Errorf("%d missed of slot %d in bucket %d of the stall, wanted %d", n, slot, bucket, wanted)
			}
		}
		if len(by) != 30 {
			t.Errorf("%d buckets, wanted 30", len(by))
		}
	}
	if lag := e.watch.look().LagMax; lag < 2900*time.Millisecond || lag > 3*time.Second {
		t.Errorf("late by %v at most, wanted all of the 3 s but a beat", lag)
	}
	if e.book.Violations() != 0 {
		t.Error("an identity is violated")
	}
}

func TestNothingIsMissedWhileTheLoadIsStillRunning(t *testing.T) {
	e, h := beating(t)
	for at := 12 * time.Second; at < 14*time.Second; at += account.Width {
		do(e, at, 30) // while the beat starves
	}
	h.beat(14 * time.Second)
	if n := sumOf(missed(t, e.book.Close(14*time.Second), 0)); n != 0 {
		t.Errorf("%d missed while the load was still running", n)
	}
}

func TestAShortStallIsMissedByALoopThatWasBusyAndByNoneWhoseWorkersWait(t *testing.T) {
	for _, c := range []struct {
		busy   bool
		stall  time.Duration
		wanted uint64
	}{
		{true, 90 * time.Millisecond, 18}, {true, 45 * time.Millisecond, 0},
		{false, 90 * time.Millisecond, 0}, {false, 115 * time.Millisecond, 23},
	} {
		e, h := beating(t)
		for at := 12 * time.Second; at <= 13*time.Second; at += beatEvery {
			if c.busy {
				do(e, at, 6)
			}
			h.beat(at)
		}
		e.book.Close(13 * time.Second)
		h.beat(13*time.Second + c.stall)
		n := sumOf(missed(t, e.book.Close(13200*time.Millisecond), 0))
		if c.busy && n > 0 {
			n += 4 // of the 6 that the first bucket had
		}
		if n+2 < c.wanted || n > c.wanted+2 {
			t.Errorf("%d reads missed in %v, busy %v, wanted %d", n, c.stall, c.busy, c.wanted)
		}
	}
}

func TestABucketThatWasDoneInPartIsMadeUpToWhatIsUsual(t *testing.T) {
	e, h := beating(t)
	h.beat(12*time.Second + 20*time.Millisecond)
	h.beat(12*time.Second + 40*time.Millisecond)
	do(e, 12*time.Second, 12)
	h.beat(12*time.Second + 260*time.Millisecond)
	batch := e.book.Close(12300 * time.Millisecond)
	all := missed(t, batch, 0)
	for i, n := range missed(t, batch, 1) {
		all[i] += n
	}
	for i, wanted := range []uint64{18, 30, 18} {
		if all[i] < wanted-1 || all[i] > wanted {
			t.Errorf("missed by bucket %v, wanted 18, 30 and 18", all)
			break
		}
	}
}

func TestWhatIsMissedInAnOutageIsWhatWasUsualBeforeIt(t *testing.T) {
	e, h := beating(t)
	for at := 12 * time.Second; at < 40*time.Second; at += account.Width {
		h.beat(at)
		h.learn(e.book.Close(at + account.Width).Series)
	}
	h.beat(40 * time.Second)
	h.beat(41 * time.Second)
	if n := sumOf(missed(t, e.book.Close(41*time.Second), 0)); n != 200 {
		t.Errorf("%d reads missed in a second, wanted the 200 of the time before the outage", n)
	}
}

func TestWhatWasMissedBeforeDoesNotLowerWhatIsUsual(t *testing.T) {
	e := New(closedLoop(2), &drivertest.Fake{}, func(error) {})
	e.watch = newWatch()
	h := newHeartbeat(e)
	for at := time.Duration(0); at < time.Second; at += account.Width {
		h.beat(at)
		do(e, at, 30)
		h.learn(e.book.Close(at + account.Width).Series)
	}
	for _, second := range []time.Duration{2, 3, 4} {
		h.beat(second*time.Second - time.Second)
		h.beat(second * time.Second)
		batch := e.book.Close(second * time.Second)
		if n := sumOf(missed(t, batch, 0)); n != 200 {
			t.Errorf("%d reads missed until %d s, wanted 200 each second", n, second)
		}
		h.learn(batch.Series)
	}
}

func TestBeforeAnythingSucceededNothingIsMissed(t *testing.T) {
	e := New(closedLoop(2), &drivertest.Fake{}, func(error) {})
	e.watch = newWatch()
	h := newHeartbeat(e)
	h.beat(2 * time.Second)
	if n := sumOf(missed(t, e.book.Close(2*time.Second), 0)); n != 0 {
		t.Errorf("%d missed of a loop that did nothing yet", n)
	}
}

func TestAnOpenLoopHasNoHeartbeatAndDoesNotWaitForOne(t *testing.T) {
	h := newHeartbeat(New(oneStream(nil), &drivertest.Fake{}, func(error) {}))
	h.start()
	h.stop()
	if time.Duration(h.reached.Load()) != forever {
		t.Error("the buckets of an open loop wait for a heartbeat")
	}
}
