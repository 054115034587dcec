package drivertest

import (
	"context"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
)

// Writer is the one writer of a key of a loaded ledger, as the engine has one.
type Writer struct {
	driver.Driver
	t       *testing.T
	counter bool
	set     *ledger.Set
	now     time.Duration
}

// NewWriter writes registers, or counters, of the stream `orders`.
func NewWriter(t *testing.T, d driver.Driver, counter bool) *Writer {
	t.Helper()
	set := ledger.NewSet(driver.LedgerSet{Stream: 1, Name: "orders", Keys: 5, Counter: counter}, time.Second)
	set.Run = time.Now().Format("150405.000000000.")
	return &Writer{Driver: d, t: t, counter: counter, set: set}
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
	op.Record.Writer = RunID
	if kind != driver.Increment {
		op.Value = []byte("value")
		op.Record = driver.NewRecord(RunID, op.ID, seq, op.Value)
	}
	return op
}

// Write does one write of the kind, and books it.
func (w *Writer) Write(kind driver.Kind) driver.Result {
	w.t.Helper()
	result := DoPatiently(w.t, w.Driver, w.begun(kind))
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

// Doubt books a write without an answer, which took effect or did not.
func (w *Writer) Doubt(kind driver.Kind, applied bool) {
	w.t.Helper()
	op := w.begun(kind)
	if applied {
		if got := DoPatiently(w.t, w.Driver, op); got.Class != driver.OK {
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
	_ = w.set.Lines(RunID, func(line *ledger.Line) error {
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

// LossesAreFound holds for every driver: no later write hides what was lost or is foreign,
// and a write in doubt is not a loss.
func LossesAreFound(t *testing.T, open func(t *testing.T) Backdoor) {
	run := func(name string, kind driver.Kind, test func(inStore, *Writer, driver.Kind)) {
		t.Run(name, func(t *testing.T) {
			s := inStore{t, open(t)}
			test(s, NewWriter(t, s.loaded(), kind == driver.Increment), kind)
		})
	}
	for name, kind := range kinds {
		run("no later write hides that a record is gone/"+name, kind, inStore.gone)
		run("no later write hides that an older state came back/"+name, kind, inStore.older)
		run("a write in doubt that took effect is not a loss/"+name, kind, func(s inStore, w *Writer, kind driver.Kind) {
			s.followedUp(w, kind, true)
		})
		run("a write in doubt that took none is not a loss/"+name, kind, func(s inStore, w *Writer, kind driver.Kind) {
			s.followedUp(w, kind, false)
		})
		run("a record of the data set that is missing is made anew and told/"+name, kind, inStore.madeAnew)
	}
	run("a record of the data set that was garbled is noticed", driver.Update, inStore.garbled)
	run("a loss behind a write in doubt is found", driver.Update, inStore.behindDoubt)
	run("a record of another run is told and left alone", driver.Update, inStore.another)
}

func (s inStore) older(w *Writer, kind driver.Kind) {
	w.Writes(kind, 2)
	putBack := s.Keep(w.ID())
	w.Writes(kind, 1)
	putBack()
	w.Write(kind)
	w.Writes(kind, 2)
	w.WantFound("older")
}

func (s inStore) behindDoubt(w *Writer, kind driver.Kind) {
	w.Writes(kind, 2)
	w.Doubt(kind, false)
	s.Remove(w.ID())
	w.Write(kind)
	w.Writes(kind, 1)
	w.WantFound("missing")
}

func (s inStore) another(w *Writer, kind driver.Kind) {
	foreign := driver.NewRecord("run-2", w.ID(), 3, []byte("value"))
	corrupt := foreign
	corrupt.Checksum++
	for _, c := range []struct {
		as string
		driver.Record
	}{{"foreign", foreign}, {"corrupt", corrupt}} {
		w.Writes(kind, 2)
		s.Put(true, w.ID(), c.Record, []byte("value"))
		w.Write(kind)
		w.Writes(kind, 1)
		if _, back := w.WantFound(c.as); back.Record.Writer != "run-2" {
			s.Errorf("%s: %+v", c.as, back)
		}
		w = NewWriter(s.T, s.loaded(), false)
	}
}

// madeAnew is about the plain data set, whose keys have many writers.
func (s inStore) madeAnew(w *Writer, kind driver.Kind) {
	op := driver.Op{Kind: kind, ID: driver.DataID(3), Value: []byte("value")}
	op.Record = driver.NewRecord(RunID, op.ID, 0, op.Value)
	if kind == driver.Increment {
		op = driver.Op{Kind: kind, ID: "count"}
		s.ok(w, op)
	}
	for _, remade := range []bool{false, true} {
		if remade {
			s.Delete(op.ID)
		}
		if got := s.ok(w, op); got.Remade != (remade && !s.overwrites()) {
			s.Errorf("made anew: %v, and it was missing: %v", got.Remade, remade)
		}
	}
}

// garbled is about the plain data set: reads notice it, during the run and after, and a load does not
// use it again.
func (s inStore) garbled(w *Writer, _ driver.Kind) {
	garbled, intact, gone := driver.DataID(3), driver.DataID(4), driver.DataID(5)
	s.Put(false, garbled, driver.NewRecord(RunID, garbled, 0, []byte("value")), []byte("wrong"))
	s.Delete(gone)
	s.refused(w, driver.Op{Kind: driver.Read, ID: garbled}, driver.CauseIntegrity)
	s.refused(w, driver.Op{Kind: driver.Batch, ID: intact, IDs: []string{intact, garbled}}, driver.CauseIntegrity)
	stored := readBack(s, w, false, false, garbled, intact, gone)
	if len(stored) != 3 || stored[garbled].ChecksumOK || stored[garbled].Missing {
		s.Errorf("garbled: %+v", stored[garbled])
	}
	if !stored[intact].ChecksumOK || !stored[gone].Missing {
		s.Errorf("intact: %+v, gone: %+v", stored[intact], stored[gone])
	}
	s.ok(w, driver.Op{
		Kind: driver.Update, ID: gone, Value: []byte("value"),
		Record: driver.NewRecord(RunID, gone, 0, []byte("value")),
	})
	data := DatasetOf("run-2")
	data.Keys = Few
	data.Intact = func(context.Context) (bool, error) {
		return readBack(s, w, false, false, garbled)[garbled].ChecksumOK, nil
	}
	load(s, w, data)
	if back := readBack(s, w, false, false, garbled)[garbled]; !back.ChecksumOK || back.Record.Writer != "run-2" {
		s.Errorf("loaded again: %+v", back)
	}
}

func (s inStore) gone(w *Writer, kind driver.Kind) {
	w.Writes(kind, 3)
	s.Remove(w.ID())
	if got := w.Write(kind); !got.Refused || got.Class != driver.Failed || got.Cause != driver.CauseNotFound {
		s.Fatalf("the write after the loss: %+v", got)
	}
	w.Writes(kind, 4)
	line, stored := w.WantFound("missing")
	if line.Refused.T != w.now.Seconds()-4*60 || !stored.Missing {
		s.Errorf("got %+v, stored %+v", line.Refused, stored)
	}
	if n := line.AckedN; n != 3 && !(n == 4 && !w.counter) { // a register was loaded as well
		s.Errorf("%d writes are said to be lost", n)
	}
}

func (s inStore) followedUp(w *Writer, kind driver.Kind, applied bool) {
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
		s.Errorf("applied and absent are %v, wanted %v; %+v", got, want, line.Refused)
	}
	back := ReadBack(s, w, w.counter, line.Key)[line.Key]
	there := uint64(back.Value)
	if !w.counter {
		there = back.Record.Seq
	}
	if there != line.Known[0] || line.Known[0] != line.Known[1] {
		s.Errorf("%d is stored, known is %v", there, line.Known)
	}
}
