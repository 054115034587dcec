package engine

import (
	"context"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/spec"
)

func TestWhatIsQueuedIsShedAtItsDeadlineInEachStall(t *testing.T) {
	calls := 0
	fake := &drivertest.Fake{Cap: 1, Answer: func(context.Context, *driver.Op) driver.Result {
		if calls++; calls%10 == 1 {
			time.Sleep(1950 * time.Millisecond)
		}
		return drivertest.OK()
	}}
	s := oneStream(func(s *spec.Stream) { s.Rate, s.DeadlineS = 5, 0.1 })
	all, ending := simulate(t, s, fake, 11400*time.Millisecond)
	all.check(t, ending)
	for _, row := range all.Series { // an arrival every other bucket, and each has one to wait
		if row.Ends[account.Shed] > 0 && row.Bucket%2 == 0 {
			t.Errorf("shed in bucket %d, only when the next one came: %+v", row.Bucket, row.Counts)
		}
	}
	if n := all.sum().Ends[account.Shed]; n != 27 {
		t.Errorf("%d shed in 3 stalls, wanted 9 in each", n)
	}
}
