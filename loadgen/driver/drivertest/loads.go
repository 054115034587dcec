package drivertest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"brownout/loadgen/driver"
)

// Keys is how many plain items DatasetOf has: enough for several batches of each driver.
const Keys uint64 = 2500

const items = Keys + 30 + 5

// DatasetOf is a small data set with a ledger of registers and counters.
func DatasetOf(writer string) driver.Dataset {
	value := func() ([]byte, int) { return []byte("0123456789abcdef"), 1 }
	return driver.Dataset{
		Keys: Keys, ValueBytes: 16, Concurrency: 4, Writer: writer,
		Value:       func(uint64) ([]byte, int) { return value() },
		LedgerValue: func(int, uint64) ([]byte, int) { return value() },
		Ledger: []driver.LedgerSet{
			{Stream: 1, Name: "orders", Keys: 30},
			{Stream: 1, Name: "orders", Keys: 5, Counter: true},
		},
	}
}

// Few is how many plain items a test has that needs no more than a ledger and some of them.
const Few uint64 = 100

// LoadFew loads a data set of RunID with so few plain items.
func LoadFew(t testing.TB, d driver.Driver) {
	t.Helper()
	data := DatasetOf(RunID)
	data.Keys = Few
	load(t, d, data)
}

// load wants the progress to end at the last item.
func load(t testing.TB, d driver.Driver, data driver.Dataset) {
	t.Helper()
	var lock sync.Mutex
	var done uint64
	err := d.Load(t.Context(), data, func(n, total uint64) {
		lock.Lock()
		defer lock.Unlock()
		done = max(done, n)
		if total != data.Total() {
			t.Errorf("the total is %d, wanted %d", total, data.Total())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if done != data.Total() {
		t.Errorf("progress ended at %d of %d", done, data.Total())
	}
}

// LoadsAreWhole holds for every driver: what is loaded is all there, is used again if it is whole
// and loaded again if it is not; it is removed afterwards, and foreign data is never touched.
func LoadsAreWhole(t *testing.T, open func(t *testing.T) Backdoor) {
	for name, test := range map[string]func(inStore){
		"a load is read back and cleaned":                      inStore.readBackAndCleaned,
		"what clients wrote before a load is not foreign":      inStore.clientsBefore,
		"a whole data set is used again and the ledger is not": inStore.usedAgain,
		"if an item is missing all are written again":          inStore.withoutOne,
		"inserted items are taken away by the next load":       inStore.withOneMore,
		"interrupted loads are not taken for whole":            inStore.interrupted,
		"what was filled is counted at the database":           inStore.overstated,
		"a fill that was killed resumes where it stopped":      inStore.resumed,
		"other tools' markers are refused":                     inStore.anotherTool,
		"foreign data is left alone":                           inStore.foreign,
		"a data set that is said to be there is looked for":    inStore.saidToBeThere,
		"two generators load one data set":                     inStore.shared,
		"what others made for us is emptied and stays":         inStore.givenToUs,
		"a fill that was never begun is refused":               inStore.notBegun,
	} {
		t.Run(name, func(t *testing.T) { test(inStore{t, open(t)}) })
	}
}

func (s inStore) loadedBy(writer string) driver.Driver {
	s.Helper()
	d := s.Open(func(config *driver.Config) { config.Writer = writer })
	load(s, d, DatasetOf(writer))
	return d
}

func (s inStore) marker() *driver.Marker {
	s.Helper()
	m, err := s.Store().ReadMarker(s.Context())
	if err != nil || m == nil {
		s.Fatalf("the marker is %+v, %v", m, err)
	}
	return m
}

// changeMarker changes it behind the drivers' backs.
func (s inStore) changeMarker(change func(*driver.Marker)) {
	s.Helper()
	m := s.marker()
	change(m)
	if err := s.Store().WriteMarker(s.Context(), m); err != nil {
		s.Fatal(err)
	}
}

func (s inStore) holds() string {
	s.Helper()
	held, err := s.Store().Holds(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return held
}

// killed leaves a load of run-1 as a kill leaves it: done items are known to be there, and the item
// 1700 is not.
func (s inStore) killed(done uint64) {
	s.Helper()
	s.loadedBy("run-1")
	s.Delete(driver.DataID(1700))
	s.changeMarker(func(m *driver.Marker) { m.Filling, m.Data = &driver.Filling{Shape: *m.Data, Done: done}, nil })
}

// wantWriter wants the plain item to be of the writer.
func (s inStore) wantWriter(d driver.Driver, key uint64, writer string) {
	s.Helper()
	got := s.ok(d, driver.Op{Kind: driver.Read, ID: driver.DataID(key)})
	if !got.Found || got.Record.Writer != writer {
		s.Errorf("key %d: %+v, wanted that of %s", key, got.Record, writer)
	}
}

func (s inStore) readBackAndCleaned() {
	d := s.loadedBy("run-1")
	s.wantWriter(d, Keys-1, "run-1")
	register, gone := driver.LedgerID("orders", false, 29), driver.LedgerID("orders", false, 30)
	got := ReadBack(s, d, false, register, gone)
	if back := got[register]; !back.ChecksumOK || back.Record.Seq != 1 || back.Record.Writer != "run-1" {
		s.Errorf("a register: %+v", back)
	}
	if !got[gone].Missing {
		s.Errorf("a key that never was: %+v", got[gone])
	}
	count := driver.LedgerID("orders", true, 4)
	s.ok(d, driver.Op{Kind: driver.Increment, Stream: 1, ID: count, Verified: true})
	if back := ReadBack(s, d, true, count)[count]; back.Value != 1 || !back.ChecksumOK {
		s.Errorf("a counter: %+v", back)
	}
	left := s.PutClient()
	for range 2 { // once more does no harm
		if err := d.Clean(s.Context()); err != nil {
			s.Fatal(err)
		}
	}
	if held := s.holds(); held != "" {
		s.Errorf("after cleaning there is still %s", held)
	}
	if left() {
		s.Error("after cleaning there is still what a client wrote")
	}
}

// clientsBefore has a client write before any load, as `brownout client check` does.
func (s inStore) clientsBefore() {
	left := s.PutClient()
	if err := s.Open(nil).Clean(s.Context()); err != nil || left() {
		s.Errorf("cleaning gave %v; what the client wrote is still there: %t", err, left())
	}
	s.PutClient()
	s.wantWriter(s.loadedBy("run-1"), 3, "run-1")
}

func (s inStore) usedAgain() {
	s.loadedBy("run-1")
	d := s.loadedBy("run-2")
	s.wantWriter(d, 7, "run-1")
	id := driver.LedgerID("orders", false, 7)
	if back := ReadBack(s, d, false, id)[id]; back.Record.Writer != "run-2" {
		s.Errorf("the ledger was not written again: %+v", back.Record)
	}
}

// wantWhole wants the marker to say that the load has ended.
func (s inStore) wantWhole() {
	s.Helper()
	if m := s.marker(); m.Data == nil || m.Filling != nil {
		s.Errorf("the marker says %+v", m)
	}
}

// writtenAgain loads, spoils the data set, and wants the next load to write all of it.
func (s inStore) writtenAgain(spoil func(driver.Driver)) {
	s.Helper()
	spoil(s.loadedBy("run-1"))
	d := s.loadedBy("run-2")
	s.wantWriter(d, 3, "run-2")
	s.wantWriter(d, 7, "run-2")
}

func (s inStore) withoutOne() {
	s.writtenAgain(func(driver.Driver) { s.Delete(driver.DataID(3)) })
}

func (s inStore) interrupted() {
	s.writtenAgain(func(driver.Driver) {
		s.changeMarker(func(m *driver.Marker) { m.Data = nil })
	})
}

func (s inStore) withOneMore() {
	inserted := driver.Op{Kind: driver.Insert, ID: driver.InsertID(0, 0), Value: []byte("v")}
	inserted.Record = driver.NewRecord("run-1", inserted.ID, 0, inserted.Value)
	insert := func(d driver.Driver) {
		if got := DoPatiently(s, d, inserted); got.Class != driver.OK {
			s.Errorf("inserting it: %+v", got)
		}
	}
	s.writtenAgain(insert)
	insert(s.Open(nil)) // it would be there already if it had not been taken away
}

func (s inStore) resumed() {
	s.killed(1000)
	d := s.loadedBy("run-2")
	s.wantWriter(d, 0, "run-1")
	s.wantWriter(d, 999, "run-1")
	s.wantWriter(d, 1700, "run-2")
	s.wantWhole()
}

func (s inStore) overstated() {
	s.killed(2000)
	err := s.Open(nil).Load(s.Context(), DatasetOf("run-2"), func(uint64, uint64) {})
	if err == nil || !strings.Contains(err.Error(), "holds 2499 of 2500 records after it was filled") {
		s.Errorf("got %v", err)
	}
}

func (s inStore) anotherTool() {
	if err := s.Store().WriteMarker(s.Context(), &driver.Marker{MadeBy: "another tool", Schema: 9}); err != nil {
		s.Fatal(err)
	}
	err := s.Open(nil).Load(s.Context(), DatasetOf("run-1"), func(uint64, uint64) { s.Error("it wrote") })
	if err == nil || !strings.Contains(err.Error(), `"another tool", schema 9 (wanted brownout, schema 1)`) {
		s.Errorf("got %v", err)
	}
}

func (s inStore) foreign() {
	words := append(s.PutForeign(), "not made by brownout", "namespace")
	before, d := s.holds(), s.Open(nil)
	err := d.Load(s.Context(), DatasetOf("run-1"), func(uint64, uint64) { s.Error("it wrote") })
	for _, wanted := range words {
		if err == nil || !strings.Contains(err.Error(), wanted) {
			s.Errorf("%q is not in: %v", wanted, err)
		}
	}
	if err := d.Clean(s.Context()); err == nil || !strings.Contains(err.Error(), "not made by brownout") {
		s.Errorf("cleaning it gave %v", err)
	}
	if after := s.holds(); after != before || after == "" {
		s.Errorf("it held %s before and %s after", before, after)
	}
}

func (s inStore) saidToBeThere() {
	reuse := func(config *driver.Config) { config.Reuse = true }
	refused := func(wanted string) {
		s.Helper()
		if said := s.Refusal(reuse); !strings.Contains(said, wanted) {
			s.Errorf("%q is not in: %s", wanted, said)
		}
	}
	refused("holds no complete data set")
	s.PutForeign()
	refused("not made by brownout")
	s.RemoveForeign()
	s.loadedBy("run-1")
	s.wantWriter(s.Open(reuse), 7, "run-1")
}

func (s inStore) shared() {
	begin, other := s.Open(nil), s.Open(nil)
	if err := begin.Clean(s.Context()); err != nil {
		s.Fatal(err)
	}
	half := [2]uint64{items/2 + 1, items / 2}
	if got := InSteps(s.T, DatasetOf("run-1"), begin, other); got != half {
		s.Errorf("they wrote %v, wanted %v", got, half)
	}
	s.wantWhole()
	if got := InSteps(s.T, DatasetOf("run-2"), begin, other); got != half {
		s.Errorf("progress of what was there is %v, wanted %v", got, half)
	}
	s.wantWriter(begin, 2400, "run-1")
}

func (s inStore) notBegun() {
	data := DatasetOf("run-1")
	data.Step = driver.LoadFill
	d := s.Open(nil)
	if err := d.Clean(s.Context()); err != nil {
		s.Fatal(err)
	}
	err := d.Load(s.Context(), data, func(uint64, uint64) {})
	if err == nil || !strings.Contains(err.Error(), "claimed by no load") {
		s.Errorf("got %v", err)
	}
}

func (s inStore) givenToUs() {
	makes, is := s.Store().(driver.Makes)
	if !is {
		return
	}
	wantThere := func(wanted bool) {
		s.Helper()
		missing, err := makes.Missing(s.Context())
		if err != nil || slices.Contains(missing, driver.PlaceData) == wanted {
			s.Fatalf("%q are missing, %v; wanted the data's place to be there: %v", missing, err, wanted)
		}
		if holds := s.holds(); holds != "" {
			s.Fatalf("it holds %s after it was cleaned", holds)
		}
	}
	d := s.loadedBy("a")
	s.changeMarker(func(m *driver.Marker) { m.Made = nil })
	for range 2 { // the second time it is found as the first clean has left it
		if err := d.Clean(s.Context()); err != nil {
			s.Fatal(err)
		}
		wantThere(true)
		d = s.loadedBy("b")
	}
	s.changeMarker(func(m *driver.Marker) { m.Made = []string{driver.PlaceData} })
	if err := d.Clean(s.Context()); err != nil {
		s.Fatal(err)
	}
	wantThere(false)
}
