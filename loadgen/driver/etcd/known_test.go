package etcd

import (
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
)

// writer is the one writer of a key of a loaded ledger, as the engine has one.
type writer struct {
	t   *testing.T
	d   *Driver
	set *ledger.Set
	now time.Duration
}

func writers(t *testing.T, counter bool) *writer {
	t.Helper()
	d := opened(t, sharedCluster(t), nil)
	load(t, d)
	set := ledger.NewSet(driver.LedgerSet{Stream: 1, Name: "orders", Keys: 5, Counter: counter}, time.Second)
	set.Run = time.Now().Format("150405.000000000.")
	return &writer{t: t, d: d, set: set}
}

// begun is a write of the kind to key 0 that was not sent yet.
func (w *writer) begun(kind driver.Kind) driver.Op {
	w.t.Helper()
	w.now += time.Minute
	if _, free := w.set.Acquire(0, w.now); !free {
		w.t.Fatal("the key is not free")
	}
	seq, known := w.set.Begin(0)
	op := driver.Op{Kind: kind, Stream: 1, ID: w.set.WriteID(0), Verified: true, Known: &known}
	op.Record.Writer = w.d.config.Writer
	if kind != driver.Increment {
		op.Value = []byte("value")
		op.Record = driver.NewRecord(w.d.config.Writer, op.ID, seq, op.Value)
	}
	return op
}

// write does one write of the kind to key 0, and books it.
func (w *writer) write(kind driver.Kind) driver.Result {
	w.t.Helper()
	result := do(w.t, w.d, w.begun(kind))
	fate := map[driver.Class]ledger.Fate{
		driver.OK: ledger.Acknowledged, driver.Failed: ledger.Failed, driver.InDoubt: ledger.InDoubt,
	}[result.Class]
	w.set.End(0, ledger.Ended{Fate: fate, At: w.now, Result: &result})
	return result
}

// writes wants the next writes to be acknowledged.
func (w *writer) writes(kind driver.Kind, n int) {
	w.t.Helper()
	for range n {
		if got := w.write(kind); got.Class != driver.OK || got.Refused {
			w.t.Fatalf("got %+v", got)
		}
	}
}

// doubt books a write of which nobody heard, and which took effect or did not.
func (w *writer) doubt(kind driver.Kind, applied bool) {
	w.t.Helper()
	op := w.begun(kind)
	if applied {
		if got := do(w.t, w.d, op); got.Class != driver.OK {
			w.t.Fatalf("got %+v", got)
		}
	}
	w.set.End(0, ledger.Ended{Fate: ledger.InDoubt, At: w.now})
}

// found returns the line of the stored key that is not written any more, and what is stored there.
func (w *writer) found(counter bool) (*ledger.Line, driver.ReadBack) {
	w.t.Helper()
	var gone *ledger.Line
	_ = w.set.Lines(w.d.config.Writer, func(line *ledger.Line) error {
		if line.Refused != nil {
			gone = line
		}
		return nil
	})
	if gone == nil {
		w.t.Fatal("no key is left alone: the next write covered up what was lost")
	}
	return gone, backs(w.t, w.d, counter, gone.Key)[gone.Key]
}

func (w *writer) key() string { return w.d.keyOf(true, w.set.WriteID(0)) }

var kinds = map[string]driver.Kind{"update": driver.Update, "operate": driver.Operate, "increment": driver.Increment}

func TestNoLaterWriteHidesThatARecordIsGone(t *testing.T) {
	for name, kind := range kinds {
		counter := kind == driver.Increment
		t.Run(name, func(t *testing.T) {
			w := writers(t, counter)
			w.writes(kind, 3)
			remove(t, w.d, w.key())
			if got := w.write(kind); !got.Refused || got.Class != driver.Failed || got.Cause != driver.CauseNotFound {
				t.Fatalf("the write after the loss: %+v", got)
			}
			w.writes(kind, 4)
			gone, stored := w.found(counter)
			if gone.Refused.Found != "missing" || gone.Refused.T != w.now.Seconds()-4*60 || !stored.Missing {
				t.Errorf("got %+v, stored %+v", gone.Refused, stored)
			}
			if n := gone.AckedN; n != 3 && !(n == 4 && !counter) { // a register was loaded as well
				t.Errorf("%d writes are said to be lost", n)
			}
		})
	}
}

func TestNoLaterWriteHidesThatAnOlderStateCameBack(t *testing.T) {
	for name, kind := range kinds {
		counter := kind == driver.Increment
		t.Run(name, func(t *testing.T) {
			w := writers(t, counter)
			w.writes(kind, 2)
			old := get(t, w.d, w.key())
			w.writes(kind, 1)
			put(t, w.d, w.key(), old)
			w.write(kind)
			w.writes(kind, 2)
			if gone, _ := w.found(counter); gone.Refused.Found != "older" {
				t.Errorf("got %+v", gone.Refused)
			}
		})
	}
}

func TestAWriteInDoubtIsFollowedUpAndIsNoLoss(t *testing.T) {
	for name, kind := range kinds {
		counter := kind == driver.Increment
		for _, applied := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				w := writers(t, counter)
				w.writes(kind, 2)
				w.doubt(kind, applied)
				w.writes(kind, 3)
				var line *ledger.Line
				_ = w.set.Lines("", func(l *ledger.Line) error {
					if line == nil {
						line = l
					}
					return nil
				})
				want := [2]uint64{0, 1}
				if applied {
					want = [2]uint64{1, 0}
				}
				if got := [2]uint64{line.AppliedN, line.AbsentN}; got != want || line.Refused != nil {
					t.Errorf("applied and absent are %v, wanted %v; %+v", got, want, line.Refused)
				}
				back := backs(t, w.d, counter, line.Key)[line.Key]
				there := uint64(back.Value)
				if !counter {
					there = back.Record.Seq
				}
				if there != line.Known[0] || line.Known[0] != line.Known[1] {
					t.Errorf("%d is stored, known is %v", there, line.Known)
				}
			})
		}
	}
}

func TestALossBehindAWriteInDoubtIsFound(t *testing.T) {
	w := writers(t, false)
	w.writes(driver.Update, 2)
	w.doubt(driver.Update, false)
	remove(t, w.d, w.key())
	w.write(driver.Update)
	w.writes(driver.Update, 1)
	if gone, _ := w.found(false); gone.Refused.Found != "missing" {
		t.Errorf("got %+v", gone.Refused)
	}
}

func TestARecordOfAnotherRunIsToldAndLeftAlone(t *testing.T) {
	w := writers(t, false)
	w.writes(driver.Update, 2)
	foreign := driver.NewRecord("run-2", w.set.WriteID(0), 3, []byte("value"))
	put(t, w.d, w.key(), stored(foreign, []byte("value")))
	w.write(driver.Update)
	w.writes(driver.Update, 1)
	gone, back := w.found(false)
	if gone.Refused.Found != "foreign" || back.Record.Writer != "run-2" {
		t.Errorf("got %+v, %+v", gone.Refused, back)
	}
}

func TestARecordOfTheDataSetThatAWriteFindsMissingIsMadeAnewAndTold(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	load(t, d)
	for _, kind := range []driver.Kind{driver.Update, driver.Operate} {
		op := driver.Op{Kind: kind, ID: driver.DataID(3), Value: []byte("value")}
		op.Record = driver.NewRecord(d.config.Writer, op.ID, 0, op.Value)
		if got := do(t, d, op); got.Class != driver.OK || got.Remade || got.Attempts != 1 {
			t.Errorf("there: %+v", got)
		}
		remove(t, d, d.keyOf(false, op.ID))
		if got := do(t, d, op); got.Class != driver.OK || !got.Remade || got.Attempts != 1 {
			t.Errorf("missing: %+v", got)
		}
	}
}
