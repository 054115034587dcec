package engine

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/spec"
)

func after(d time.Duration) func(context.Context, *driver.Op) driver.Result {
	return func(context.Context, *driver.Op) driver.Result {
		time.Sleep(d)
		return drivertest.OK()
	}
}

// frozen answers nothing from one moment to another, counted from the first
// operation, and everything at once then.
func frozen(from, to time.Duration, lane string, fake *drivertest.Fake) {
	var start time.Time
	fake.Answer = func(ctx context.Context, op *driver.Op) driver.Result {
		if start.IsZero() {
			start = time.Now()
		}
		at := time.Since(start)
		if at >= from && at < to && (lane == "" || fake.Lane(op) == lane) {
			thaw := time.NewTimer(to - at)
			defer thaw.Stop()
			select {
			case <-thaw.C:
			case <-ctx.Done():
				return drivertest.TimedOut(ctx, op)
			}
		}
		return drivertest.OK()
	}
}

func byKey(lanes uint64) func(*driver.Op) string {
	return func(op *driver.Op) string { return strconv.FormatUint(op.Key%lanes, 10) }
}

func TestASteadyLoadIsDeliveredExactly(t *testing.T) {
	all, ending := simulate(t, oneStream(nil), &drivertest.Fake{Answer: after(3 * time.Millisecond)}, 10*time.Second)
	all.check(t, ending)
	for i := 0; i < len(all.Series); i += 2 {
		if n := all.Series[i].Offered + all.Series[i+1].Offered; n != 100 {
			t.Fatalf("%d offered in bucket %d, wanted 100", n, all.Series[i].Bucket)
		}
	}
	if sum := all.sum(); sum.Ends[account.Ok] != 10_000 {
		t.Errorf("%d of 10000 are ok", sum.Ends[account.Ok])
	}
	if len(all.self) != 10 {
		t.Errorf("%d rows of the generator itself, wanted 10", len(all.self))
	}
}

func TestAFrozenServerDelaysEverythingAndLosesNothingWithinTheDeadline(t *testing.T) {
	fake := &drivertest.Fake{}
	frozen(5*time.Second, 10*time.Second, "", fake)
	all, ending := simulate(t, oneStream(func(s *spec.Stream) { s.DeadlineS = 10 }), fake, 20*time.Second)
	all.check(t, ending)
	slowest, pending := int64(0), int64(0)
	for i := 0; i < len(all.Series); i += 2 {
		a, b := all.Series[i], all.Series[i+1]
		if a.Offered+b.Offered != 100 {
			t.Fatalf("%d offered in bucket %d, wanted 100", a.Offered+b.Offered, a.Bucket)
		}
		slowest, pending = max(slowest, a.MaxUS, b.MaxUS), max(pending, a.Pending+b.Pending)
	}
	if slowest < 5_000_000-1000 || pending < 4900 || pending > 5100 {
		t.Errorf("slowest response %d µs, at most %d pending, wanted 5 s and about 5000", slowest, pending)
	}
	if sum := all.sum(); sum.Ends[account.Ok] != sum.Offered {
		t.Errorf("not everything is ok: %+v", sum)
	}
}

func TestOneStalledLaneOfFiveLosesOneFifth(t *testing.T) {
	cases := map[string]struct {
		global    int
		low, high float64
	}{
		"a cap per lane": {0, 0.19, 0.21},
		"one global cap": {20, 0.85, 0.95},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			s := oneStream(nil)
			s.GlobalCap = test.global
			fake := &drivertest.Fake{Lanes: byKey(5), Cap: 32}
			frozen(5*time.Second, 25*time.Second, "3", fake)
			all, ending := simulate(t, s, fake, 25*time.Second)
			all.check(t, ending)
			if loss := all.loss(8*time.Second, 23*time.Second); loss < test.low || loss > test.high {
				t.Errorf("%.1f %% lost, wanted %.0f to %.0f", loss*100, test.low*100, test.high*100)
			}
			if loss := all.loss(0, 4*time.Second); loss != 0 {
				t.Errorf("%.2f %% lost before the stall", loss*100)
			}
		})
	}
}

func TestAStoppedGeneratorMissesAndDoesNotCatchUp(t *testing.T) {
	stalled := false
	fake := &drivertest.Fake{}
	fake.Lanes = func(*driver.Op) string {
		if fake.Calls.Load() == 1000 && !stalled {
			stalled = true
			time.Sleep(2 * time.Second) // in the scheduler's own goroutine
		}
		return "only"
	}
	all, ending := simulate(t, oneStream(nil), fake, 5*time.Second)
	all.check(t, ending)
	sum := all.sum()
	if missed := sum.Ends[account.Missed]; missed < 1890 || missed > 1910 {
		t.Errorf("%d missed after a pause of 2 s at 1000/s, wanted about 1900", missed)
	}
	if sum.Offered != 5000 {
		t.Errorf("%d offered in 5 s at 1000/s", sum.Offered)
	}
}

func TestWhatFindsNoSlotBeforeItsDeadlineIsShed(t *testing.T) {
	fake := &drivertest.Fake{Answer: after(500 * time.Millisecond), Cap: 10}
	s := oneStream(func(s *spec.Stream) { s.Mix = reading() })
	all, ending := simulate(t, s, fake, 10*time.Second)
	all.check(t, ending)
	sum := all.sum()
	if answered := sum.Ends[account.Ok] + sum.Ends[account.Late]; answered > 230 || answered+sum.Ends[account.Shed] != 10_000 {
		t.Errorf("%+v, wanted about 200 answered and the rest shed", sum)
	}
	for _, row := range all.Series {
		if row.Pending > 1020 {
			t.Fatalf("%d pending, wanted at most rate × deadline + cap", row.Pending)
		}
	}
}

func TestAWaitForASlotIsPartOfTheResponseTime(t *testing.T) {
	fake := &drivertest.Fake{Answer: after(100 * time.Millisecond), Cap: 10}
	// Twice what 10 slots can do in 4 s: who is served last has waited for half of that.
	doubled := oneStream(func(s *spec.Stream) { s.Mix, s.Rate, s.DeadlineS = reading(), 200, 60 })
	all, ending := simulate(t, doubled, fake, 4*time.Second)
	all.check(t, ending)
	slowest := int64(0)
	for _, row := range all.Series {
		slowest = max(slowest, row.MaxUS)
	}
	if slowest < 1_900_000 || slowest > 2_200_000 {
		t.Errorf("slowest response %d µs, wanted about 2 s of which 100 ms were spent in the database", slowest)
	}
}

func TestAClosedLoopFollowsTheDatabase(t *testing.T) {
	closed := oneStream(func(s *spec.Stream) { s.Rate, s.Concurrency = 0, 8 })
	all, ending := simulate(t, closed, &drivertest.Fake{Answer: after(10 * time.Millisecond)}, 10*time.Second)
	all.check(t, ending)
	if n := all.sum().Ends[account.Ok]; n < 7900 || n > 8000 {
		t.Errorf("%d done by 8 workers of 10 ms in 10 s, wanted 8000", n)
	}
	refusing := &drivertest.Fake{Answer: func(context.Context, *driver.Op) driver.Result { return drivertest.Refused() }}
	all, ending = simulate(t, closed, refusing, time.Second)
	all.check(t, ending)
	if n := all.sum().Offered; n > 8100 {
		t.Errorf("%d operations in a second on a database that refuses: the workers spin", n)
	}
}

func TestMemoryStaysFlatThroughALongOutage(t *testing.T) {
	answers := map[string]func(context.Context, *driver.Op) driver.Result{
		"frozen": drivertest.TimedOut,
		"refused": func(_ context.Context, op *driver.Op) driver.Result {
			result := drivertest.Refused()
			result.Code = "refused by " + op.ID // a careless driver
			return result
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			s := oneStream(func(s *spec.Stream) {
				s.Mix, s.Verified, s.LedgerKeys, s.Rate = map[string]float64{"update": 1}, true, 20, 20
			})
			early, late := heapDuring(t, s, &drivertest.Fake{Answer: answer, Cap: 16})
			if late > early+2<<20 {
				t.Errorf("%d KB of heap after a minute, %d KB after twenty more", early>>10, late>>10)
			}
		})
	}
}

// heapDuring runs a load for twenty simulated minutes and returns the live heap
// after a minute and at the end. Its sink keeps nothing.
func heapDuring(t *testing.T, s *spec.Spec, fake *drivertest.Fake) (early, late uint64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := started(t, s, fake, func(error) {})
		time.Sleep(time.Minute)
		early = liveHeap()
		time.Sleep(20 * time.Minute)
		late = liveHeap()
		if ending, err := e.Stop(); err != nil || ending.Violations != 0 || ending.Undrained != 0 {
			t.Errorf("%+v, %v", ending, err)
		}
		time.Sleep(2 * restAfterFailure) // the pacer's runners notice
	})
	return early, late
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func TestStopReturnsAlsoWhenTheDriverDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		fake := &drivertest.Fake{Answer: func(context.Context, *driver.Op) driver.Result {
			<-release
			return drivertest.OK()
		}, Cap: 4}
		e := started(t, oneStream(func(s *spec.Stream) { s.Mix = reading() }), fake, func(error) {})
		time.Sleep(3 * time.Second)
		start := time.Now()
		ending, err := e.Stop()
		if err != nil || ending.Undrained != 4 || time.Since(start) > 10*time.Second {
			t.Errorf("%+v, %v after %v", ending, err, time.Since(start))
		}
		close(release)
		synctest.Wait()
	})
}

func TestARecordThatCannotBeKeptStopsTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, told := errors.New("no space"), make(chan error, 2)
		fake := &drivertest.Fake{}
		e := started(t, oneStream(nil), fake, func(err error) { told <- err }, &kept{fail: full})
		if err := <-told; !errors.Is(err, full) {
			t.Errorf("told of %v", err)
		}
		calls := fake.Calls.Load()
		time.Sleep(2 * time.Second)
		if now := fake.Calls.Load(); now > calls+100 {
			t.Errorf("%d operations more after the failure", now-calls)
		}
		if _, err := e.Stop(); !errors.Is(err, full) {
			t.Errorf("Stop() = %v", err)
		}
		if len(told) != 0 {
			t.Error("told twice")
		}
	})
}

func TestTheSeedDecidesTheOperations(t *testing.T) {
	record := func(seed uint64) (ids []string) {
		s := oneStream(func(s *spec.Stream) {
			s.Arrivals, s.Keys = spec.Poisson, spec.Keys{Distribution: spec.Zipf, Theta: 0.99}
		})
		s.Seed = seed
		lanes := func(op *driver.Op) string {
			ids = append(ids, op.Kind.String()+op.ID)
			return "only"
		}
		simulate(t, s, &drivertest.Fake{Lanes: lanes}, time.Second)
		return ids
	}
	one, same, other := record(1), record(1), record(2)
	if n := len(one); n < 900 || n != len(same) {
		t.Fatalf("%d operations, then %d", n, len(same))
	}
	agree := 0
	for i := range one {
		if one[i] != same[i] {
			t.Fatalf("operation %d is %s, then %s", i, one[i], same[i])
		}
		if i < len(other) && one[i] == other[i] {
			agree++
		}
	}
	if agree > len(one)/10 {
		t.Errorf("%d of %d operations are the same with another seed", agree, len(one))
	}
}

func TestTheMixIsAsAsked(t *testing.T) {
	all, ending := simulate(t, oneStream(nil), &drivertest.Fake{}, 20*time.Second)
	all.check(t, ending)
	reads := 0.0
	for _, row := range all.Outcomes {
		if all.slots[row.Slot].Op == driver.Read {
			reads += float64(row.Offered)
		}
	}
	if share := reads / 20_000; math.Abs(share-0.7) > 0.015 {
		t.Errorf("%.3f of the operations are reads, wanted 0.7", share)
	}
}

func TestABatchHasItsKeysAndIsARead(t *testing.T) {
	s := oneStream(func(stream *spec.Stream) {
		stream.Mix, stream.BatchKeys = map[string]float64{"batch": 1, "operate": 1}, 7
		stream.Verified, stream.LedgerKeys = true, 5000
	})
	fake := &drivertest.Fake{Answer: func(ctx context.Context, op *driver.Op) driver.Result {
		switch {
		case op.Kind == driver.Operate && (len(op.IDs) > 0 || !op.Record.Valid(op.ID, op.Value)):
			t.Errorf("an operation of several steps: %+v", op)
		case op.Kind == driver.Batch && (len(op.IDs) != 7 || op.IDs[0] != op.ID || op.Value != nil):
			t.Errorf("a batch: %+v", op)
		case op.Kind == driver.Batch:
			return driver.Result{Class: driver.OK} // not all were found
		}
		return drivertest.OK()
	}}
	all, ending := simulate(t, s, fake, 2*time.Second)
	all.check(t, ending)
	sum := all.sum()
	if sum.Ends[account.Failed] == 0 || sum.Ends[account.Ok] == 0 || sum.Ends[account.InDoubt] > 0 {
		t.Errorf("got %+v", sum)
	}
	for _, row := range all.Errors {
		if row.Cause != driver.CauseNotFound {
			t.Errorf("got %+v", row)
		}
	}
}
