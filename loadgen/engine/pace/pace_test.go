package pace

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/quick"
	"time"

	"brownout/loadgen/driver"
)

func TestConstantArrivalsNeverDrift(t *testing.T) {
	property := func(rate uint16, n uint16) bool {
		per := float64(rate) + 1
		arrivals := NewConstant(per)
		at := time.Duration(0)
		for range int(n) + 1 {
			at = arrivals.Next()
		}
		return math.Abs(at.Seconds()-float64(n)/per) < 1e-8
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestPoissonArrivalsHaveTheRateAndSpreadOfTheirLaw(t *testing.T) {
	arrivals := NewPoisson(1000, rand.New(rand.NewPCG(1, 2)))
	counts := make([]float64, 2000) // arrivals in each 0.1 s: mean and variance 100
	for {
		bucket := int(arrivals.Next() / (100 * time.Millisecond))
		if bucket >= len(counts) {
			break
		}
		counts[bucket]++
	}
	mean, variance := 0.0, 0.0
	for _, n := range counts {
		mean += n / float64(len(counts))
	}
	for _, n := range counts {
		variance += (n - mean) * (n - mean) / float64(len(counts))
	}
	if math.Abs(mean-100) > 1 || math.Abs(variance-100) > 15 {
		t.Errorf("mean %.2f and variance %.2f per 0.1 s, wanted 100 and 100", mean, variance)
	}
}

func due(s *Schedule, now time.Duration) (sent, missed int) {
	for {
		_, late, ok := s.Due(now)
		switch {
		case !ok:
			return sent, missed
		case late:
			missed++
		default:
			sent++
		}
	}
}

func TestAScheduleReachesEveryArrivalOnce(t *testing.T) {
	schedule, total := NewSchedule(NewConstant(5000), time.Second), 0
	for now := time.Duration(0); now < time.Second; now += 700 * time.Microsecond {
		sent, missed := due(schedule, now)
		if missed > 0 {
			t.Fatalf("%d missed at %v", missed, now)
		}
		total += sent
	}
	if total < 4995 || total > 5000 {
		t.Errorf("%d arrivals in a second, wanted 5000 less those of the last batch", total)
	}
}

func TestAPauseOfTheGeneratorIsMissedAndNotCaughtUpWith(t *testing.T) {
	cases := map[string]struct {
		deadline     time.Duration
		sent, missed int
	}{
		"long deadline":  {time.Second, 101, 900},
		"short deadline": {20 * time.Millisecond, 21, 980},
	}
	for name, test := range cases {
		schedule := NewSchedule(NewConstant(1000), test.deadline)
		sent, missed := due(schedule, time.Second)
		if sent != test.sent || missed != test.missed {
			t.Errorf("%s: after a pause of 1 s at 1000/s %d sent and %d missed, wanted %d and %d",
				name, sent, missed, test.sent, test.missed)
		}
	}
}

func TestArrivalsThatAreDealtOutAreThoseOfOne(t *testing.T) {
	const of = 3
	one, all := NewConstant(700), make([]*Constant, of)
	for index := range all {
		all[index] = NewDealt(700, driver.Share{Index: index, Of: of})
	}
	for i := range 10_000 {
		if wanted, got := one.Next(), all[i%of].Next(); got != wanted {
			t.Fatalf("arrival %d is at %v, wanted %v", i, got, wanted)
		}
	}
}
