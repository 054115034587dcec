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
	// Put stores a record, right or wrong, under a verified key. Misshape stores what is no record,
	// in one of so many ways.
	Put(id string, record driver.Record, value []byte)
	Misshape(id string, way int) (ways int)
	// Keep remembers what is stored of a verified key now.
	Keep(id string) (putBack func())
	// Document is what is stored of a document, as a text.
	Document(set string, id int64) string
	// PutCanary leaves what a canary that was killed leaves, if the database has one.
	PutCanary()
	// PutForeign puts something of somebody else's there, and returns what a refusal is to name.
	PutForeign() []string
	RemoveForeign()
}

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

// ok does an operation that succeeds at the first attempt.
func (s inStore) ok(d driver.Driver, op driver.Op) driver.Result {
	s.Helper()
	got := Do(s, d, op)
	if got.Class != driver.OK || !got.Sent || got.Attempts != 1 {
		s.Fatalf("%v of %s: %+v", op.Kind, op.ID, got)
	}
	return got
}

// refused does an operation that fails of a cause.
func (s inStore) refused(d driver.Driver, op driver.Op, cause driver.Cause) driver.Result {
	s.Helper()
	got := Do(s, d, op)
	if got.Class != driver.Failed || got.Cause != cause {
		s.Errorf("%v of %s: %+v, wanted that it fails: %s", op.Kind, op.ID, got, cause)
	}
	return got
}
