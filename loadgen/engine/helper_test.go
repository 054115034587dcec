package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/engine/pace"
	"brownout/loadgen/spec"
)

// simulated is an alarm by the runtime's timers, which a synctest bubble simulates.
func simulated() pace.Alarm { return pace.NewTimer() }

// kept is everything that the sinks were told.
type kept struct {
	account.Batch
	self  []account.Self
	lanes []string
	slots []account.Slot
	fail  error
}

func (k *kept) Take(report *account.Report) error {
	k.Series = append(k.Series, report.Batch.Series...)
	k.Outcomes = append(k.Outcomes, report.Batch.Outcomes...)
	k.Errors = append(k.Errors, report.Batch.Errors...)
	k.Lanes = append(k.Lanes, report.Batch.Lanes...)
	k.self = append(k.self, report.Self...)
	k.lanes, k.slots = report.Lanes, report.Slots
	return k.fail
}

// loss is the share of the operations intended in [from, to) that were not ok.
func (k *kept) loss(from, to time.Duration) float64 {
	var sum account.Counts
	for _, row := range k.Outcomes {
		if at := time.Duration(row.Bucket) * account.Width; at >= from && at < to {
			sum.Offered += row.Offered
			sum.Ends[account.Ok] += row.Ends[account.Ok]
		}
	}
	return 1 - float64(sum.Ends[account.Ok])/float64(sum.Offered)
}

func (k *kept) sum() (sum account.Counts) {
	for _, row := range k.Outcomes {
		sum.Offered += row.Offered
		for i, n := range row.Ends {
			sum.Ends[i] += n
		}
	}
	return sum
}

// check fails the test unless every identity holds in every row.
func (k *kept) check(t *testing.T, ending Ending) {
	t.Helper()
	before := make([]int64, len(k.slots))
	for _, row := range k.Series {
		if int64(row.Offered) != int64(row.Ended())+row.Pending-before[row.Slot] {
			t.Fatalf("identity violated by completion: %+v, pending before %d", row, before[row.Slot])
		}
		before[row.Slot] = row.Pending
	}
	for _, row := range k.Outcomes {
		if row.Offered != row.Ended() {
			t.Fatalf("identity violated by intended start: %+v", row)
		}
	}
	if ending.Violations != 0 || ending.Undrained != 0 {
		t.Fatalf("%d violations, %d operations undrained", ending.Violations, ending.Undrained)
	}
	if wanted := int(ending.At/account.Width) * len(k.slots); len(k.Series) != wanted || len(k.Outcomes) != wanted {
		t.Fatalf("%d and %d rows, wanted %d", len(k.Series), len(k.Outcomes), wanted)
	}
}

func oneStream(change func(*spec.Stream)) *spec.Spec {
	s := &spec.Spec{
		Schema: 1, Seed: 4711, Writer: "run", Data: spec.Data{Keys: 1000, ValueBytes: 64, Load: true},
		Streams: []spec.Stream{{
			Name: "app", Mix: map[string]float64{"read": 0.7, "update": 0.3},
			Keys: spec.Keys{Distribution: spec.Uniform}, Rate: 1000,
			Arrivals: spec.Constant, DeadlineS: 1, Retries: "none",
		}},
	}
	if change != nil {
		change(&s.Streams[0])
	}
	return s
}

// reading is the mix of a stream whose operations all share their slots.
func reading() map[string]float64 { return map[string]float64{"read": 1} }

// started returns a load that runs in a synctest bubble.
func started(t *testing.T, s *spec.Spec, fake *drivertest.Fake, onFail func(error), sinks ...account.Sink) *Engine {
	t.Helper()
	e := New(s, fake, onFail)
	e.ReportTo(sinks...)
	e.newAlarm = simulated
	if err := e.Start(time.Now().Add(Lead), func(time.Time) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return e
}

// simulate runs a load for a simulated time and returns what the sinks saw.
func simulate(t *testing.T, s *spec.Spec, fake *drivertest.Fake, length time.Duration) (all *kept, ending Ending) {
	t.Helper()
	return simulateThen(t, s, fake, length, func(*Engine) {})
}

// simulateThen looks at the engine after it.
func simulateThen(
	t *testing.T, s *spec.Spec, fake *drivertest.Fake, length time.Duration, look func(*Engine),
) (all *kept, ending Ending) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		all = &kept{}
		e := started(t, s, fake, func(error) {}, all)
		time.Sleep(length)
		var err error
		if ending, err = e.Stop(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * restAfterFailure) // the workers of closed loops and the pacer's runners notice
		look(e)
	})
	return all, ending
}
