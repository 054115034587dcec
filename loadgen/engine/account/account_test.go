package account

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/quick"
	"time"

	"brownout/loadgen/driver"
)

func twoSlots() *Book {
	return NewBook([]Slot{{"app", driver.Read}, {"app", driver.Update}})
}

// play runs random operations through a book, closing it as it goes, and
// returns all rows.
func play(seed uint64, operations int) (*Book, Batch) {
	random := rand.New(rand.NewPCG(seed, 1))
	book, now, all := twoSlots(), time.Duration(0), Batch{}
	lane := book.Lane("a")
	var waiting []Ending
	collect := func(batch Batch) {
		all.Series = append(all.Series, batch.Series...)
		all.Outcomes = append(all.Outcomes, batch.Outcomes...)
		all.Errors = append(all.Errors, batch.Errors...)
		all.Lanes = append(all.Lanes, batch.Lanes...)
	}
	end := func(i int) {
		e := waiting[i]
		e.At = now
		book.Ended(&e)
		waiting[i] = waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
	}
	for range operations {
		now += time.Duration(random.IntN(30)) * time.Millisecond
		e := Ending{Slot: random.IntN(2), Lane: lane, End: End(random.IntN(int(Ends)))}
		if e.End != Ok && e.End != Missed {
			e.Cause = driver.CauseOther
		}
		e.Bucket = book.Offered(e.Slot, lane, now)
		waiting = append(waiting, e)
		for len(waiting) > 0 && random.IntN(3) > 0 {
			end(random.IntN(len(waiting)))
		}
		collect(book.Close(now - 200*time.Millisecond))
	}
	for len(waiting) > 0 {
		end(0)
	}
	collect(book.Close(now + Width))
	return book, all
}

func TestTheIdentitiesHoldInEveryRow(t *testing.T) {
	property := func(seed uint64) bool {
		book, all := play(seed, 400)
		before := map[int]int64{}
		for _, row := range all.Series {
			if int64(row.Offered) != int64(row.Ended())+row.Pending-before[row.Slot] {
				return false
			}
			before[row.Slot] = row.Pending
		}
		for _, row := range all.Outcomes {
			if row.Offered != row.Ended() {
				return false
			}
		}
		return book.Violations() == 0 && len(all.Series) == len(all.Outcomes)
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 50}); err != nil {
		t.Error(err)
	}
}

func TestEveryBucketIsThereInOrderAlsoWhenNothingHappens(t *testing.T) {
	book := twoSlots()
	bucket := book.Offered(0, NoLane, 0)
	book.Ended(&Ending{Slot: 0, Lane: NoLane, Bucket: bucket, At: 0, End: Ok})
	batch := book.Close(time.Second)
	if len(batch.Series) != 20 || len(batch.Outcomes) != 20 {
		t.Fatalf("%d and %d rows for 10 buckets of 2 slots", len(batch.Series), len(batch.Outcomes))
	}
	for i, row := range batch.Series {
		if row.Bucket != int64(i/2) || row.Slot != i%2 {
			t.Errorf("row %d is bucket %d, slot %d", i, row.Bucket, row.Slot)
		}
	}
}

func TestOutcomesWaitForTheSlowestAndStayInOrder(t *testing.T) {
	book := twoSlots()
	slow := book.Offered(0, NoLane, 0)
	quick := book.Offered(0, NoLane, 150*time.Millisecond)
	book.Ended(&Ending{Lane: NoLane, Bucket: quick, At: 160 * time.Millisecond, End: Ok})
	batch := book.Close(time.Second)
	if len(batch.Outcomes) != 0 || len(batch.Series) != 20 {
		t.Fatalf("outcomes before the first bucket ended: %v", batch.Outcomes)
	}
	if pending := batch.Series[18].Pending; pending != 1 {
		t.Errorf("pending = %d, wanted 1", pending)
	}
	book.Ended(&Ending{Lane: NoLane, Bucket: slow, At: 1050 * time.Millisecond, End: InDoubt, Cause: "other"})
	batch = book.Close(1100 * time.Millisecond)
	if len(batch.Outcomes) != 22 || batch.Outcomes[0].Ends[InDoubt] != 1 || batch.Series[0].Ends[InDoubt] != 1 {
		t.Errorf("outcomes %v, series %v", batch.Outcomes, batch.Series)
	}
}

func TestThePartialLastBucketIsNotReported(t *testing.T) {
	book := twoSlots()
	book.Offered(0, NoLane, 0)
	late := book.Offered(0, NoLane, 250*time.Millisecond)
	book.Finish(260 * time.Millisecond)
	book.Ended(&Ending{Lane: NoLane, Bucket: late, At: 300 * time.Millisecond, End: Ok})
	batch := book.Close(time.Second)
	if n := len(batch.Series); n != 4 || batch.Series[n-1].Bucket != 1 || batch.Series[2].Pending != 1 {
		t.Errorf("series %+v, wanted the buckets 0 and 1", batch.Series)
	}
	if totals := book.Totals()[0]; totals.Offered != 2 || totals.Ends[Ok] != 1 {
		t.Errorf("totals %+v, wanted both operations", totals)
	}
}

func TestTheWritesOfALaneAreToldFromItsReads(t *testing.T) {
	book := twoSlots() // 0 reads, 1 updates
	lane := book.Lane("a")
	read := book.Offered(0, lane, 0)
	book.Ended(&Ending{Slot: 0, Lane: lane, Bucket: read, At: 0, End: Ok})
	write := book.Offered(1, lane, 110*time.Millisecond)
	book.Ended(&Ending{Slot: 1, Lane: lane, Bucket: write, At: 120 * time.Millisecond, End: Failed, Cause: "other"})
	book.Offered(1, lane, 130*time.Millisecond)
	wanted := []LaneRow{
		{Bucket: 0, Offered: 1, Ok: 1}, // no writes before the first of them
		{Bucket: 1},
		{Bucket: 1, Write: true, Offered: 2, Bad: 1, Pending: 1},
	}
	if got := book.Close(2 * Width).Lanes; !slices.Equal(got, wanted) {
		t.Errorf("got %+v, wanted %+v", got, wanted)
	}
}

func TestADoubleEndIsAViolation(t *testing.T) {
	book := twoSlots()
	e := Ending{Lane: NoLane, Bucket: book.Offered(0, NoLane, 0), End: Ok}
	book.Ended(&e)
	book.Ended(&e)
	book.Close(time.Second)
	if book.Violations() == 0 {
		t.Error("an operation that ended twice was not noticed")
	}
}

func TestBucketsAreReusedSoMemoryStaysFlat(t *testing.T) {
	book := twoSlots()
	for i := range 10_000 {
		at := time.Duration(i) * Width
		bucket := book.Offered(0, NoLane, at)
		book.Ended(&Ending{Lane: NoLane, Bucket: bucket, At: at, End: Failed, Cause: driver.CauseOther, Code: string(rune(i))})
		book.Close(at)
	}
	if len(book.buckets)+len(book.spare) > 20 || len(book.codes) > maxCodes {
		t.Errorf("%d buckets, %d spare, %d codes", len(book.buckets), len(book.spare), len(book.codes))
	}
}

func TestConcurrentUseKeepsTheSums(t *testing.T) {
	book := twoSlots()
	var group sync.WaitGroup
	start := time.Now()
	for worker := range 4 {
		group.Go(func() {
			for range 5000 {
				now := time.Since(start)
				bucket := book.Offered(worker%2, NoLane, now)
				book.Ended(&Ending{Slot: worker % 2, Lane: NoLane, Bucket: bucket, At: time.Since(start), End: Ok, Sent: true})
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
			book.Close(time.Since(start))
		}
	}
	book.Close(time.Since(start) + 2*Width)
	totals := book.Totals()
	if book.Violations() != 0 || totals[0].Ends[Ok] != 10_000 || totals[1].Ends[Ok] != 10_000 {
		t.Errorf("%d violations, totals %+v", book.Violations(), totals)
	}
}

func TestLatenciesGoToTheSecondTheyEndedIn(t *testing.T) {
	book := twoSlots()
	end := func(at, response time.Duration, end End) {
		bucket := book.Offered(1, NoLane, at)
		book.Ended(&Ending{Slot: 1, Lane: NoLane, Bucket: bucket, At: at, End: end, Sent: true, Response: response, Service: response / 2})
	}
	end(100*time.Millisecond, 20*time.Millisecond, Ok)
	end(900*time.Millisecond, 5*time.Hour, Failed)
	end(1100*time.Millisecond, 40*time.Millisecond, Ok)
	intervals := book.Intervals(2 * time.Second)
	if len(intervals) != 2 {
		t.Fatalf("%d intervals, wanted 2", len(intervals))
	}
	first := intervals[0].Slots[1]
	if first.Response.TotalCount() != 1 || !first.Response.ValuesAreEquivalent(first.Response.Max(), 20_000) ||
		!first.Service.ValuesAreEquivalent(first.Service.Max(), 10_000) || first.Failed.TotalCount() != 1 {
		t.Errorf("first second: %+v", first)
	}
	if intervals[1].Start != time.Second || intervals[1].Slots[0].Response != nil {
		t.Errorf("second interval: %+v", intervals[1])
	}
}
