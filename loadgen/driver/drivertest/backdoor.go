package drivertest

import (
	"testing"

	"brownout/loadgen/driver"
)

// Backdoor opens drivers of one store for one test, and has ways to it behind their backs.
type Backdoor interface {
	// Open opens a driver with a Config; Refusal returns why one does not open.
	Open(change func(*driver.Config)) driver.Driver
	Refusal(change func(*driver.Config)) string
	// Store is where its drivers keep their data.
	Store() driver.Store
	// Delete takes a plain item away, Remove a verified key.
	Delete(id string)
	Remove(id string)
	// Put stores a record, right or wrong, in place of one that is there. Misshape stores under a
	// verified key what is not a record, in one of so many ways.
	Put(verified bool, id string, record driver.Record, value []byte)
	Misshape(id string, way int) (ways int)
	// Keep remembers what is stored of a verified key now.
	Keep(id string) (putBack func())
	// Document is what is stored of a document, as a text.
	Document(set string, id int64) string
	// PutClient leaves what a ready client leaves, and returns what tells whether it is still there.
	PutClient() (there func() bool)
	// PutForeign puts foreign data there, and returns what a refusal is to name.
	PutForeign() []string
	RemoveForeign()
}

// Overwrites is a Backdoor of a database whose writes do not tell what they write over: an insert
// replaces what is there, and no record is said to be made anew.
type Overwrites interface{ Overwrites() }

// CountsApart is a Backdoor of a database that keeps counters apart, where no read of a record finds
// them: Count reads one.
type CountsApart interface {
	Count(verified bool, id string) int64
}

// Drivers are the part of a Backdoor that opens them.
type Drivers struct {
	*testing.T
	Config func() driver.Config
	Fresh  func() driver.Driver
}

// Open opens one whose operations have time.
func (d Drivers) Open(change func(*driver.Config)) driver.Driver {
	d.Helper()
	config := d.Config()
	for i := range config.Streams {
		config.Streams[i].DeadlineS = patience.Seconds()
	}
	return Opened(d.T, d.Fresh(), config, change)
}

// Refusal returns why one does not open.
func (d Drivers) Refusal(change func(*driver.Config)) string {
	d.Helper()
	return Refusal(d.T, d.Fresh(), d.Config(), change)
}

// InKeys is the part of a Backdoor that is the same in all databases that have nothing but keys.
type InKeys struct {
	Keys      driver.Keys
	Address   string
	Get       func(key string) string
	Set       func(key, value string)
	TakeAway  func(key string)
	Stored    func(driver.Record, []byte) string
	Misshapen []string
}

// Delete takes a plain item away.
func (k InKeys) Delete(id string) { k.TakeAway(k.Keys.Key(false, id)) }

// Remove takes a verified key away.
func (k InKeys) Remove(id string) { k.TakeAway(k.Keys.Key(true, id)) }

// Put stores a record.
func (k InKeys) Put(verified bool, id string, record driver.Record, value []byte) {
	k.Set(k.Keys.Key(verified, id), k.Stored(record, value))
}

// Misshape stores what is not a record.
func (k InKeys) Misshape(id string, way int) (ways int) {
	k.Set(k.Keys.Key(true, id), k.Misshapen[way])
	return len(k.Misshapen)
}

// Keep remembers what is stored now.
func (k InKeys) Keep(id string) (putBack func()) {
	key := k.Keys.Key(true, id)
	old := k.Get(key)
	return func() { k.Set(key, old) }
}

// PutClient does nothing: this database has no ready client.
func (k InKeys) PutClient() (there func() bool) { return func() bool { return false } }

func (k InKeys) customers() string { return string(k.Keys) + "/customers" }

// PutForeign puts foreign data there.
func (k InKeys) PutForeign() []string {
	k.Set(k.customers(), "1")
	return []string{"customers", k.Address}
}

// RemoveForeign takes it away.
func (k InKeys) RemoveForeign() { k.TakeAway(k.customers()) }

// inStore is one test with a store of its own.
type inStore struct {
	*testing.T
	Backdoor
}

// claimed returns an open driver whose store is there, and empty.
func (s inStore) claimed() driver.Driver {
	s.Helper()
	d := s.Open(nil)
	if err := s.Store().WriteMarker(s.Context(), &driver.Marker{MadeBy: "brownout", Schema: 1}); err != nil {
		s.Fatal(err)
	}
	return d
}

// loaded returns an open driver whose ledger was just loaded.
func (s inStore) loaded() driver.Driver {
	s.Helper()
	d := s.Open(nil)
	LoadFew(s, d)
	return d
}

func (s inStore) overwrites() bool {
	_, is := s.Backdoor.(Overwrites)
	return is
}

// ok does an operation that succeeds at the first attempt.
func (s inStore) ok(d driver.Driver, op driver.Op) driver.Result {
	s.Helper()
	got := DoPatiently(s, d, op)
	if got.Class != driver.OK || !got.Sent || got.Attempts != 1 {
		s.Fatalf("%v of %s: %+v", op.Kind, op.ID, got)
	}
	return got
}

// refused does an operation that fails of a cause.
func (s inStore) refused(d driver.Driver, op driver.Op, cause driver.Cause) driver.Result {
	s.Helper()
	got := DoPatiently(s, d, op)
	if got.Class != driver.Failed || got.Cause != cause {
		s.Errorf("%v of %s: %+v, wanted that it fails: %s", op.Kind, op.ID, got, cause)
	}
	return got
}
