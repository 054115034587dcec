package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/spec"
)

func parted(index, of int, change func(*spec.Stream)) *spec.Spec {
	s := oneStream(change)
	s.Part = driver.Share{Index: index, Of: of}
	return s
}

func TestGeneratorsTogetherOfferInEachBucketWhatOneDoes(t *testing.T) {
	const length = 3 * time.Second
	alone, _ := simulate(t, oneStream(func(s *spec.Stream) { s.Rate = 730 }), &drivertest.Fake{}, length)
	sums := map[int64]uint64{}
	for _, row := range alone.Series {
		sums[row.Bucket] += row.Offered
	}
	for index := range 3 {
		part, _ := simulate(t, parted(index, 3, func(s *spec.Stream) { s.Rate = 730 }), &drivertest.Fake{}, length)
		for _, row := range part.Series {
			sums[row.Bucket] -= row.Offered
		}
	}
	for bucket, left := range sums {
		if left != 0 {
			t.Errorf("bucket %d: three generators offered %d less than one", bucket, int64(left))
		}
	}
}

func TestAVerifiedKeyHasOneGeneratorThatWritesItAndAnyReadsIt(t *testing.T) {
	written, inserted, readers := map[string]int{}, map[string]int{}, map[string]map[int]bool{}
	for index := range 2 {
		var mu sync.Mutex
		fake := &drivertest.Fake{Answer: func(_ context.Context, op *driver.Op) driver.Result {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case op.Kind == driver.Insert:
				inserted[op.ID]++
			case op.Kind.Write():
				if by, known := written[op.ID]; known && by != index {
					t.Errorf("key %s has two writers", op.ID)
				}
				written[op.ID] = index
			default:
				if readers[op.ID] == nil {
					readers[op.ID] = map[int]bool{}
				}
				readers[op.ID][index] = true
			}
			return drivertest.OK()
		}}
		s := parted(index, 2, func(s *spec.Stream) {
			s.Verified, s.LedgerKeys = true, 20
			s.Mix = map[string]float64{"read": 1, "update": 1, "increment": 1}
		})
		s.Streams = append(s.Streams, oneStream(func(s *spec.Stream) {
			s.Name, s.Mix = "new", map[string]float64{"insert": 1}
		}).Streams[0])
		simulate(t, s, fake, 2*time.Second)
	}
	if len(written) != 40 { // registers and counters
		t.Errorf("%d of 40 keys were written", len(written))
	}
	for id, by := range readers {
		if len(by) != 2 {
			t.Errorf("key %s was read by %d of 2 generators", id, len(by))
		}
	}
	if len(inserted) < 1900 || slices.Max(slices.Collect(maps.Values(inserted))) != 1 {
		t.Errorf("%d keys were inserted, one of them more than once", len(inserted))
	}
}

func TestPoissonArrivalsOfEachGeneratorAreItsOwnAndAddUpToTheRate(t *testing.T) {
	const length = 10 * time.Second
	poisson := func(s *spec.Stream) { s.Rate, s.Arrivals = 900, spec.Poisson }
	total, seen := 0.0, map[uint64]bool{}
	for index := range 3 {
		part, _ := simulate(t, parted(index, 3, poisson), &drivertest.Fake{}, length)
		sum, hash := 0.0, uint64(0)
		for _, row := range part.Series {
			sum += float64(row.Offered)
			hash = hash*31 + row.Offered
		}
		total, seen[hash] = total+sum, true
	}
	if total < 9000-5*95 || total > 9000+5*95 { // 5 standard deviations
		t.Errorf("%v operations in 10 s, wanted about 9000", total)
	}
	if len(seen) != 3 {
		t.Error("two generators have the same arrivals")
	}
}
