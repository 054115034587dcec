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

func TestClassifyKnowsTheSixEnds(t *testing.T) {
	failed := driver.Result{Class: driver.Failed, Cause: driver.CauseOverloaded}
	doubt := driver.Result{Class: driver.InDoubt}
	cases := map[string]struct {
		kind   driver.Kind
		result driver.Result
		late   bool
		end    account.End
		cause  driver.Cause
	}{
		"success":               {driver.Update, drivertest.OK(), false, account.Ok, ""},
		"success, too late":     {driver.Read, drivertest.OK(), true, account.Late, driver.CauseLate},
		"error":                 {driver.Read, failed, false, account.Failed, driver.CauseOverloaded},
		"error, late":           {driver.Read, failed, true, account.Failed, driver.CauseOverloaded},
		"write in doubt":        {driver.Increment, doubt, true, account.InDoubt, driver.CauseOther},
		"reads are never that":  {driver.Read, doubt, false, account.Failed, driver.CauseOther},
		"nothing there":         {driver.Read, driver.Result{}, false, account.Failed, driver.CauseNotFound},
		"a write finds nothing": {driver.Update, driver.Result{}, false, account.Ok, ""},
	}
	for name, test := range cases {
		end, cause := classify(test.kind, &test.result, test.late)
		if end != test.end || cause != test.cause {
			t.Errorf("%s: %v because of %q, wanted %v because of %q", name, end, cause, test.end, test.cause)
		}
	}
}

func TestOneRetryOfOurs(t *testing.T) {
	doubt := driver.Result{Class: driver.InDoubt, Cause: driver.CauseConnectionReset, Retryable: true}
	fatal := driver.Result{Class: driver.Failed, Cause: driver.CauseAuthTLS}
	ok, refused := drivertest.OK(), drivertest.Refused()
	cases := map[string]struct {
		kind          driver.Kind
		first, second driver.Result
		class         driver.Class
		cause         driver.Cause
		retried       bool
		doubtful      bool
	}{
		"cured":                         {driver.Read, refused, ok, driver.OK, "", true, false},
		"not cured":                     {driver.Read, refused, fatal, driver.Failed, driver.CauseAuthTLS, true, false},
		"not worth it":                  {driver.Read, fatal, ok, driver.Failed, driver.CauseAuthTLS, false, false},
		"doubt, cured":                  {driver.Update, doubt, ok, driver.OK, "", true, true},
		"doubt, then failed":            {driver.Update, doubt, refused, driver.InDoubt, driver.CauseConnectionReset, true, true},
		"failed, then doubt":            {driver.Update, refused, doubt, driver.InDoubt, driver.CauseConnectionReset, true, true},
		"an increment counts only once": {driver.Increment, doubt, ok, driver.InDoubt, driver.CauseConnectionReset, false, true},
	}
	for name, test := range cases {
		answers := []driver.Result{test.first, test.second}
		fake := &drivertest.Fake{Answer: func(context.Context, *driver.Op) driver.Result {
			answer := answers[0]
			answers = answers[1:]
			return answer
		}}
		s := oneStream(func(s *spec.Stream) { s.Retries = driver.RetriesOnce })
		e := New(s, fake, func(error) {})
		e.t0 = time.Now()
		o := &operation{stream: e.streams[0], deadline: time.Hour, op: driver.Op{Kind: test.kind}}
		got := e.attempts(o, 0)
		if got.result.Class != test.class || got.result.Cause != test.cause ||
			got.retried != test.retried || got.doubtful != test.doubtful {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestARecordThatWasMissingForOneOfTwoAttemptsWasMissing(t *testing.T) {
	doubt := driver.Result{Class: driver.InDoubt, Cause: driver.CauseConnectionReset, Retryable: true}
	for _, second := range []driver.Result{drivertest.OK(), drivertest.Refused(), doubt} {
		for _, which := range []int{0, 1} {
			answers := []driver.Result{doubt, second}
			answers[which].Remade = true
			fake := &drivertest.Fake{Answer: func(context.Context, *driver.Op) driver.Result {
				answer := answers[0]
				answers = answers[1:]
				return answer
			}}
			e := New(oneStream(func(s *spec.Stream) { s.Retries = driver.RetriesOnce }), fake, func(error) {})
			e.t0 = time.Now()
			o := &operation{stream: e.streams[0], deadline: time.Hour, op: driver.Op{Kind: driver.Update}}
			if got := e.attempts(o, 0); !got.result.Remade {
				t.Errorf("attempt %d, then %+v: it is not told", which, second)
			}
		}
	}
}

func TestARetrySharesTheDeadline(t *testing.T) {
	fake := &drivertest.Fake{Answer: func(context.Context, *driver.Op) driver.Result { return drivertest.Refused() }}
	s := oneStream(func(s *spec.Stream) { s.Retries = driver.RetriesOnce })
	e := New(s, fake, func(error) {})
	e.t0 = time.Now().Add(-time.Minute)
	got := e.attempts(&operation{stream: e.streams[0], deadline: time.Second}, 0)
	if got.retried || fake.Calls.Load() != 1 {
		t.Errorf("retried after the deadline: %+v", got)
	}
}

func TestAVerifiedWriteCarriesItsSequence(t *testing.T) {
	records := make(chan driver.Record, 10)
	fake := &drivertest.Fake{Answer: func(_ context.Context, op *driver.Op) driver.Result {
		if !op.Verified || !op.Record.Valid(op.ID, op.Value) {
			t.Errorf("not a verified write with its checksum: %+v", op.Record)
		}
		records <- op.Record
		return drivertest.OK()
	}}
	s := oneStream(func(s *spec.Stream) {
		s.Mix, s.Verified, s.LedgerKeys, s.Rate = map[string]float64{"update": 1}, true, 1, 10
	})
	all, ending := simulate(t, s, fake, 950*time.Millisecond)
	all.check(t, ending)
	for seq := uint64(2); seq <= 11; seq++ {
		if got := <-records; got.Seq != seq || got.Writer != "run" {
			t.Fatalf("write %+v, wanted sequence %d", got, seq)
		}
	}
}

func TestAWriteWithoutAFreeKeyIsShed(t *testing.T) {
	s := oneStream(func(s *spec.Stream) {
		s.Mix, s.Verified, s.LedgerKeys, s.Rate = map[string]float64{"update": 1}, true, 3, 100
	})
	all, ending := simulate(t, s, &drivertest.Fake{Answer: drivertest.TimedOut}, 3*time.Second)
	all.check(t, ending)
	sum := all.sum()
	if sum.Ends[account.InDoubt] < 3 || sum.Ends[account.Shed] < 280 {
		t.Errorf("%+v, wanted nearly all shed", sum)
	}
	for _, row := range all.Errors {
		if row.Cause == driver.CauseNoSlot && row.Code != "keys-busy" {
			t.Errorf("shed with the code %q", row.Code)
		}
	}
}
