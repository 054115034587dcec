package drivertest

import (
	"context"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
)

// Stored is a driver with a loaded ledger, and a way behind its back to what is stored of a key.
type Stored struct {
	driver.Driver
	Writer string                           // of its configuration
	Remove func(id string)                  // takes a verified key away
	Keep   func(id string) (putBack func()) // remembers what is stored of it now
}

// Do does one operation within a second.
func Do(t testing.TB, d driver.Driver, op driver.Op) driver.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	return d.Do(ctx, &op)
}

// ReadBack is what is stored of these keys of stream 1.
func ReadBack(t testing.TB, d driver.Driver, counter bool, ids ...string) map[string]driver.ReadBack {
	t.Helper()
	found := map[string]driver.ReadBack{}
	err := d.ReadBack(t.Context(), 1, ids, counter, func(b driver.ReadBack) { found[b.ID] = b })
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Writer is the one writer of a key of a loaded ledger, as the engine has one.
type Writer struct {
	Stored
	t       *testing.T
	counter bool
	set     *ledger.Set
	now     time.Duration
}

// NewWriter writes registers, or counters, of the stream `orders`.
func NewWriter(t *testing.T, stored Stored, counter bool) *Writer {
	t.Helper()
	set := ledger.NewSet(driver.LedgerSet{Stream: 1, Name: "orders", Keys: 5, Counter: counter}, time.Second)
	set.Run = time.Now().Format("150405.000000000.")
	return &Writer{Stored: stored, t: t, counter: counter, set: set}
}

// ID is that of the key which is written.
func (w *Writer) ID() string { return w.set.WriteID(0) }

// begun is a write of the kind to the key that was not sent yet.
func (w *Writer) begun(kind driver.Kind) driver.Op {
	w.t.Helper()
	w.now += time.Minute
	if _, free := w.set.Acquire(0, w.now); !free {
		w.t.Fatal("the key is not free")
	}
	seq, known := w.set.Begin(0)
	op := driver.Op{Kind: kind, Stream: 1, ID: w.ID(), Verified: true, Known: &known}
	op.Record.Writer = w.Writer
	if kind != driver.Increment {
		op.Value = []byte("value")
		op.Record = driver.NewRecord(w.Writer, op.ID, seq, op.Value)
	}
	return op
}

// Write does one write of the kind, and books it.
func (w *Writer) Write(kind driver.Kind) driver.Result {
	w.t.Helper()
	result := Do(w.t, w.Driver, w.begun(kind))
	fate := map[driver.Class]ledger.Fate{
		driver.OK: ledger.Acknowledged, driver.Failed: ledger.Failed, driver.InDoubt: ledger.InDoubt,
	}[result.Class]
	w.set.End(0, ledger.Ended{Fate: fate, At: w.now, Result: &result})
	return result
}

// Writes wants the next writes to be acknowledged.
func (w *Writer) Writes(kind driver.Kind, n int) {
	w.t.Helper()
	for range n {
		if got := w.Write(kind); got.Class != driver.OK || got.Refused {
			w.t.Fatalf("got %+v", got)
		}
	}
}

// Doubt books a write of which nobody heard, and which took effect or did not.
func (w *Writer) Doubt(kind driver.Kind, applied bool) {
	w.t.Helper()
	op := w.begun(kind)
	if applied {
		if got := Do(w.t, w.Driver, op); got.Class != driver.OK {
			w.t.Fatalf("got %+v", got)
		}
	}
	w.set.End(0, ledger.Ended{Fate: ledger.InDoubt, At: w.now})
}

// WantFound returns the line of the key that is not written any more since something else was
// found of it, and what is stored there.
func (w *Writer) WantFound(as string) (*ledger.Line, driver.ReadBack) {
	w.t.Helper()
	var gone *ledger.Line
	_ = w.set.Lines(w.Writer, func(line *ledger.Line) error {
		if line.Refused != nil {
			gone = line
		}
		return nil
	})
	if gone == nil {
		w.t.Fatal("no key is left alone: the next write covered up what was lost")
	}
	if gone.Refused.Found != as {
		w.t.Errorf("found %+v, wanted %s", gone.Refused, as)
	}
	return gone, ReadBack(w.t, w.Driver, w.counter, gone.Key)[gone.Key]
}

var kinds = map[string]driver.Kind{"update": driver.Update, "operate": driver.Operate, "increment": driver.Increment}

// LossesAreFound holds for every driver: no later write hides what was lost, and a write in doubt
// is no loss. open returns a driver whose ledger was just loaded.
func LossesAreFound(t *testing.T, open func(t *testing.T) Stored) {
	for name, kind := range kinds {
		writer := func(t *testing.T) *Writer { return NewWriter(t, open(t), kind == driver.Increment) }
		t.Run("no later write hides that a record is gone/"+name, func(t *testing.T) {
			gone(t, writer(t), kind)
		})
		t.Run("no later write hides that an older state came back/"+name, func(t *testing.T) {
			w := writer(t)
			w.Writes(kind, 2)
			putBack := w.Keep(w.ID())
			w.Writes(kind, 1)
			putBack()
			w.Write(kind)
			w.Writes(kind, 2)
			w.WantFound("older")
		})
		t.Run("a write in doubt that took effect is no loss/"+name, func(t *testing.T) {
			followedUp(t, writer(t), kind, true)
		})
		t.Run("a write in doubt that took none is no loss/"+name, func(t *testing.T) {
			followedUp(t, writer(t), kind, false)
		})
	}
	t.Run("a loss behind a write in doubt is found", func(t *testing.T) {
		w := NewWriter(t, open(t), false)
		w.Writes(driver.Update, 2)
		w.Doubt(driver.Update, false)
		w.Remove(w.ID())
		w.Write(driver.Update)
		w.Writes(driver.Update, 1)
		w.WantFound("missing")
	})
}

func gone(t *testing.T, w *Writer, kind driver.Kind) {
	t.Helper()
	w.Writes(kind, 3)
	w.Remove(w.ID())
	if got := w.Write(kind); !got.Refused || got.Class != driver.Failed || got.Cause != driver.CauseNotFound {
		t.Fatalf("the write after the loss: %+v", got)
	}
	w.Writes(kind, 4)
	line, stored := w.WantFound("missing")
	if line.Refused.T != w.now.Seconds()-4*60 || !stored.Missing {
		t.Errorf("got %+v, stored %+v", line.Refused, stored)
	}
	if n := line.AckedN; n != 3 && !(n == 4 && !w.counter) { // a register was loaded as well
		t.Errorf("%d writes are said to be lost", n)
	}
}

func followedUp(t *testing.T, w *Writer, kind driver.Kind, applied bool) {
	t.Helper()
	w.Writes(kind, 2)
	w.Doubt(kind, applied)
	w.Writes(kind, 3)
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
	back := ReadBack(t, w.Driver, w.counter, line.Key)[line.Key]
	there := uint64(back.Value)
	if !w.counter {
		there = back.Record.Seq
	}
	if there != line.Known[0] || line.Known[0] != line.Known[1] {
		t.Errorf("%d is stored, known is %v", there, line.Known)
	}
}
