package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/ledger"
	"brownout/loadgen/spec"
)

// documents is a database of documents that answers one operation in twenty with an error
// and one with nothing, after it has applied every other one of these.
type documents struct {
	drivertest.Fake
	mu    sync.Mutex
	there map[driver.DocumentKey]int64
	calls int
}

func newDocuments() *documents {
	d := &documents{there: map[driver.DocumentKey]int64{}}
	d.Answer = d.answer
	return d
}

func (d *documents) answer(ctx context.Context, op *driver.Op) driver.Result {
	d.mu.Lock()
	d.calls++
	n := d.calls
	key := driver.DocumentKey{Set: op.Document.Set, ID: op.Document.ID}
	if op.Kind == driver.Read {
		result := drivertest.OK()
		result.Found = d.there[key] > 0
		d.mu.Unlock()
		return result
	}
	refused, silent := n%20 == 0 && n > loadedSteps, n%20 == 10 && n > loadedSteps
	if !refused && (!silent || n%40 == 10) {
		d.there[key]++
	}
	d.mu.Unlock()
	switch {
	case refused:
		return driver.Result{Class: driver.Failed, Cause: driver.CauseOverloaded, Code: "busy", Sent: true}
	case silent:
		return drivertest.TimedOut(ctx, op)
	}
	time.Sleep(time.Millisecond)
	return drivertest.OK()
}

// Have and Count are what is there.
func (d *documents) Have(_ context.Context, keys []driver.DocumentKey) ([]bool, error) {
	have := make([]bool, len(keys))
	for i, key := range keys {
		have[i] = d.there[key] > 0
	}
	return have, nil
}

func (d *documents) Count(_ context.Context, key driver.DocumentKey, _ string) (int64, bool, error) {
	return d.there[key], d.there[key] > 0, nil
}

// loadedSteps are more than the players of the load phase have, who are all written.
const loadedSteps = 20 * 600

func players(space string) *spec.Spec {
	s := oneStream(nil)
	s.Data.LoadConcurrency = 4
	s.Streams = []spec.Stream{
		{Name: "players", Rate: 800, Arrivals: spec.Constant, DeadlineS: 0.2, Retries: "none", Verified: true,
			Mix: map[string]float64{"insert": 2, "increment": 1, "update": 3},
			Play: &spec.Play{Profile: spec.Realtime, Players: 40, LoadedPlayers: 20, FirstPlayer: 500,
				IncrementSpace: space, IncrementKeys: 5, DocScale: 1}},
		{Name: "reader", Rate: 200, Arrivals: spec.Constant, DeadlineS: 0.2, Retries: "none",
			Mix:    map[string]float64{"read": 1},
			Reader: &spec.Reader{Of: "players", HotShare: 0.5, WarmShare: 0.3, HotPlayers: 10, WarmS: 300}},
	}
	return s
}

func TestAModelKeepsTheIdentitiesAndEveryAcknowledgedWrite(t *testing.T) {
	for _, space := range []string{spec.WideSpace, spec.HotSpace} {
		t.Run(space, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				database, all, s := newDocuments(), &kept{}, players(space)
				e := New(s, database, func(error) {})
				e.ReportTo(all)
				e.newAlarm = simulated
				if err := e.Preload(t.Context(), func(uint64, uint64) {}); err != nil {
					t.Fatal(err)
				}
				database.calls = loadedSteps
				if err := e.Start(time.Now().Add(Lead), func(time.Time) error { return nil }); err != nil {
					t.Fatal(err)
				}
				time.Sleep(30 * time.Second)
				ending, err := e.Stop()
				if err != nil {
					t.Fatal(err)
				}
				all.check(t, ending)
				if ending.Counts.Offered < 30_000 {
					t.Errorf("%d operations offered", ending.Counts.Offered)
				}
				kept := 0
				for _, promises := range e.Promises() {
					kept += verify(t, promises, database)
				}
				if kept < 8000 {
					t.Errorf("the ledger knows of %d acknowledged writes", kept)
				}
			})
		})
	}
}

// verify holds what was promised against the database, and returns how much was acknowledged.
func verify(t *testing.T, promises Promises, database *documents) (acked int) {
	place := 0
	var lines []*ledger.Line
	_ = promises.Lines("run", func(line *ledger.Line) error {
		lines = append(lines, line)
		return nil
	})
	for _, line := range lines {
		back := promises.Find(t.Context(), database, place)
		place++
		acked += int(line.AckedN)
		if back.Err != nil || uint64(back.Value) < line.AckedN || uint64(back.Value) > line.AckedN+line.InDoubtN {
			t.Errorf("%s: %d of %d acknowledged and %d in doubt", line.Key, back.Value, line.AckedN, line.InDoubtN)
		}
	}
	return acked
}
