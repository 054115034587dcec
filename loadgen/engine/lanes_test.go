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
	s := oneStream(func(s *spec.Stream) { s.Mix, s.Rate, s.DeadlineS = reading(), 5, 0.1 })
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

// writesHang answers reads at once, and no write before its deadline.
func writesHang(ctx context.Context, op *driver.Op) driver.Result {
	if op.Kind.Write() {
		return drivertest.TimedOut(ctx, op)
	}
	return drivertest.OK()
}

func TestWritesThatHangTakeNoSlotFromReads(t *testing.T) {
	fake := &drivertest.Fake{Cap: 10, Answer: writesHang}
	all, ending := simulate(t, oneStream(nil), fake, 5*time.Second)
	all.check(t, ending)
	for _, row := range all.Outcomes {
		if all.slots[row.Slot].Op == driver.Read && row.Ends[account.Ok] != row.Offered {
			t.Fatalf("not every read is ok: %+v", row)
		}
	}
	for _, row := range all.Series {
		if all.slots[row.Slot].Op == driver.Read && row.MaxUS > 10_000 {
			t.Fatalf("a read waited: %+v", row)
		}
	}
	if sum := all.sum(); sum.Ends[account.InDoubt] < 1400 {
		t.Errorf("the writes hang: %+v", sum)
	}
}
