package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/engine/pace"
	"brownout/loadgen/spec"
)

// witness is an alarm that knows when it goes off, and whether a runner would hear it.
type witness struct {
	pace.Alarm
	t       *testing.T
	deaf    time.Duration // before each wait: the system runs another process
	at      atomic.Pointer[time.Time]
	listens atomic.Bool
}

func (w *witness) Wait(done func() bool) {
	time.Sleep(w.deaf)
	w.Alarm.Wait(func() bool {
		w.listens.Store(true)
		return done()
	})
	w.listens.Store(false)
}

func (w *witness) Set(d time.Duration) {
	if !w.listens.Load() {
		w.t.Error("an alarm is set that no runner would hear")
	}
	at := time.Now().Add(d)
	w.at.Store(&at)
	w.Alarm.Set(d)
}

// witnesses are the alarms of one load.
type witnesses struct {
	t     *testing.T
	deaf  time.Duration
	mu    sync.Mutex
	every []*witness
}

func (w *witnesses) alarm() pace.Alarm {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.every = append(w.every, &witness{Alarm: simulated(), t: w.t, deaf: w.deaf})
	return w.every[len(w.every)-1]
}

// ahead counts the alarms that are still to go off: while nothing else happens, that of the leader.
func (w *witnesses) ahead() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.every {
		if at := one.at.Load(); at != nil && at.After(time.Now()) {
			n++
		}
	}
	return n
}

// witnessed runs a load of 1000/s for two simulated seconds, and looks again and again, while
// nothing happens.
func witnessed(t *testing.T, seen *witnesses, answer func(context.Context, *driver.Op) driver.Result, look func(*testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		all := &kept{}
		e := New(oneStream(nil), &drivertest.Fake{Answer: answer, Cap: 1000}, func(error) {})
		e.ReportTo(all)
		e.newAlarm = seen.alarm
		if err := e.Start(time.Now().Add(Lead), func(time.Time) error { return nil }); err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			time.Sleep(970 * time.Microsecond)
			synctest.Wait()
			look(t)
		}
		ending, err := e.Stop()
		if err != nil {
			t.Fatal(err)
		}
		all.check(t, ending)
		if n := ending.Counts.Ends[account.Missed]; n > 0 {
			t.Errorf("%d arrivals were missed", n)
		}
		time.Sleep(seen.deaf + 2*restAfterFailure) // the runners notice
	})
}

func TestExactlyOneRunnerLeadsAlsoWhileTheOthersAreStuck(t *testing.T) {
	cases := map[string]func(context.Context, *driver.Op) driver.Result{
		"at once":              nil,
		"after a while":        after(7 * time.Millisecond),
		"longer than they are": after(300 * time.Millisecond),
		"never":                drivertest.TimedOut,
	}
	for name, answer := range cases {
		t.Run(name, func(t *testing.T) {
			seen := &witnesses{t: t}
			witnessed(t, seen, answer, func(t *testing.T) {
				if n := seen.ahead(); n != 1 {
					t.Fatalf("%d runners lead", n)
				}
			})
		})
	}
}

func TestNoAlarmIsSetBeforeItsRunnerHearsIt(t *testing.T) {
	seen := &witnesses{t: t, deaf: 3 * time.Millisecond}
	witnessed(t, seen, after(7*time.Millisecond), func(*testing.T) {})
}

// With real alarms, and operations that come back at every moment, an alarm that is lost would
// leave the schedule without a leader.
func TestNoArrivalIsLostUnderStress(t *testing.T) {
	var n atomic.Int64
	fake := &drivertest.Fake{Cap: 40, Answer: func(context.Context, *driver.Op) driver.Result {
		time.Sleep(time.Duration(n.Add(1)*7919%400) * time.Microsecond)
		return drivertest.OK()
	}}
	s := oneStream(func(s *spec.Stream) { s.Rate, s.Arrivals, s.DeadlineS = 6000, spec.Poisson, 60 })
	s.Streams = append(s.Streams, oneStream(func(s *spec.Stream) { s.Name, s.Rate, s.Concurrency = "closed", 0, 2 }).Streams[0])
	all := &kept{}
	e := New(s, fake, func(error) {})
	e.ReportTo(all)
	if err := e.Start(time.Now().Add(Lead), func(time.Time) error { return nil }); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	ending, err := e.Stop()
	if err != nil {
		t.Fatal(err)
	}
	all.check(t, ending)
	open := e.book.Totals()[0].Offered + e.book.Totals()[1].Offered
	if wanted := 6000 * ending.At.Seconds(); float64(open) < wanted-600 || float64(open) > wanted+600 {
		t.Errorf("%d offered in %v at 6000/s", open, ending.At)
	}
}
