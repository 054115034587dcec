package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/spec"
)

func closedLoop(workers int) *spec.Spec {
	return oneStream(func(s *spec.Stream) { s.Rate, s.Concurrency = 0, workers })
}

func TestTheEndOfTheScheduleDoesNotWaitForTheOperationsOfAClosedLoop(t *testing.T) {
	s := closedLoop(4)
	s.Streams[0].DeadlineS = 10
	all, ending := simulate(t, s, &drivertest.Fake{Answer: after(5 * time.Second)}, 2*time.Second)
	all.check(t, ending)
	if ending.At < 1900*time.Millisecond || ending.At > 2*time.Second || ending.Counts.Ends[account.Ok] != 4 {
		t.Errorf("the schedule ended at %v, and then %+v; wanted 2 s and four operations", ending.At, ending.Counts)
	}
}

func TestAClosedLoopWithMoreWorkersThanSlotsKeepsEverySlotBusy(t *testing.T) {
	fake := &drivertest.Fake{Answer: after(10 * time.Millisecond), Cap: 3}
	s := closedLoop(8)
	s.Streams[0].Mix = reading()
	all, ending := simulate(t, s, fake, 10*time.Second)
	all.check(t, ending)
	if n := all.sum().Ends[account.Ok]; n < 2950 || n > 3010 {
		t.Errorf("%d done in 3 slots of 10 ms in 10 s, wanted about 3000", n)
	}
}

func TestASlotThatAClosedLoopFreesGoesToWhatWaitsForIt(t *testing.T) {
	s := closedLoop(1)
	s.Streams = append(s.Streams, oneStream(func(s *spec.Stream) { s.Name, s.Rate = "open", 10 }).Streams[0])
	for i := range s.Streams {
		s.Streams[i].Mix = reading()
	}
	fake := &drivertest.Fake{Answer: after(10 * time.Millisecond), Cap: 1}
	all, ending := simulate(t, s, fake, 10*time.Second)
	all.check(t, ending)
	for _, row := range all.Outcomes {
		if row.Ends[account.Ok] != row.Offered {
			t.Fatalf("not everything is ok: %+v", row)
		}
	}
	if n := all.sum().Offered; n < 990 || n > 1001 {
		t.Errorf("%d done in one slot of 10 ms in 10 s, wanted 1000", n)
	}
}

func TestTheOperationsOfAClosedLoopMayComeBackAfterTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		fake := &drivertest.Fake{Answer: func(context.Context, *driver.Op) driver.Result {
			<-release
			return drivertest.OK()
		}, Cap: 3}
		s := closedLoop(5)
		s.Streams[0].DeadlineS = 60
		e := started(t, s, fake, func(error) {})
		time.Sleep(time.Second)
		if ending, err := e.Stop(); err != nil || ending.Undrained != 3 || ending.Counts.Ends[account.Shed] != 2 {
			t.Errorf("%+v, %v", ending, err)
		}
		close(release)
		synctest.Wait()
	})
}
