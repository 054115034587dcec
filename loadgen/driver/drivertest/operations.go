package drivertest

import (
	"sync"
	"testing"

	"brownout/loadgen/driver"
)

// OperationsDoWhatTheySay holds for every driver; exists is its code of a key that is there already,
// unless it Overwrites that.
func OperationsDoWhatTheySay(t *testing.T, exists string, open func(t *testing.T) Backdoor) {
	for name, test := range map[string]func(inStore){
		"a write is read back as it was":                 inStore.writeAndRead,
		"an exchange writes and reads":                   inStore.exchange,
		"an insert of a key that is there fails":         func(s inStore) { s.insertTwice(exists) },
		"a batch is good if every record is":             inStore.batch,
		"an increment counts from nothing":               inStore.count,
		"increments of several writers all count":        inStore.countTogether,
		"a record that fails its checksum is spoilt":     inStore.failChecksum,
		"what is not a record of ours is spoilt as well": inStore.misshape,
	} {
		t.Run(name, func(t *testing.T) { test(inStore{t, open(t)}) })
	}
}

func lookUp(id string) driver.Op {
	return driver.Op{Kind: driver.Read, Stream: 1, ID: id, Verified: true}
}

// wantRecord wants what was written to be read.
func (s inStore) wantRecord(d driver.Driver, written driver.Op) {
	s.Helper()
	if got := s.ok(d, lookUp(written.ID)); !got.Found || got.Record == nil || *got.Record != written.Record {
		s.Errorf("got %+v, wanted %+v", got.Record, written.Record)
	}
}

func (s inStore) writeAndRead() {
	d, written := s.claimed(), Update(0, "new")
	s.ok(d, written)
	s.wantRecord(d, written)
	if got := s.ok(d, driver.Op{Kind: driver.Read, ID: written.ID}); got.Found {
		s.Errorf("the plain data set has a key of the ledger: %+v", got)
	}
	if got := s.ok(d, driver.Op{Kind: driver.Read, ID: "missing"}); got.Found {
		s.Errorf("a missing key: %+v", got)
	}
}

func (s inStore) exchange() {
	d := s.claimed()
	for _, value := range []string{"first", "newer"} {
		written := Update(0, value)
		written.Kind = driver.Operate
		s.ok(d, written)
		s.wantRecord(d, written)
	}
}

func (s inStore) insertTwice(exists string) {
	d, op := s.claimed(), driver.Op{Kind: driver.Insert, ID: driver.InsertID(0, 1), Value: []byte("x")}
	op.Record = driver.NewRecord(RunID, op.ID, 0, op.Value)
	s.ok(d, op)
	if s.overwrites() {
		s.ok(d, op)
		return
	}
	if got := s.refused(d, op, driver.CauseKeyBusy); got.Code != exists || got.Retryable {
		s.Errorf("inserting it again: %+v", got)
	}
}

func (s inStore) batch() {
	d, all := s.claimed(), driver.Op{Kind: driver.Batch, Stream: 1, Verified: true}
	for key := range uint64(20) {
		op := Update(key, "hello")
		s.ok(d, op)
		all.IDs = append(all.IDs, op.ID, op.ID)
	}
	if got := s.ok(d, all); !got.Found {
		s.Errorf("all of them: %+v", got)
	}
	all.IDs = append(all.IDs, Update(20, "").ID)
	if got := s.ok(d, all); got.Found {
		s.Errorf("one is missing: %+v", got)
	}
}

func (s inStore) count() {
	d := s.claimed()
	for _, op := range []driver.Op{
		{Kind: driver.Increment, ID: "c"},
		{Kind: driver.Increment, Stream: 1, ID: driver.LedgerID("orders", true, 0), Verified: true},
	} {
		for range 3 {
			s.ok(d, op)
		}
		s.wantCount(d, op, 3)
	}
}

// wantCount wants the counter of an operation to be there and to say so.
func (s inStore) wantCount(d driver.Driver, op driver.Op, wanted int64) {
	s.Helper()
	if apart, is := s.Backdoor.(CountsApart); is {
		if got := apart.Count(op.Verified, op.ID); got != wanted {
			s.Errorf("the counter %s says %d, wanted %d", op.ID, got, wanted)
		}
		return
	}
	op.Kind = driver.Read
	if got := s.ok(d, op); !got.Found || got.Value != wanted {
		s.Errorf("the counter %s: %+v, wanted %d", op.ID, got, wanted)
	}
}

func (s inStore) countTogether() {
	d := s.claimed()
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 10 {
				if got := DoPatiently(s, d, driver.Op{Kind: driver.Increment, ID: "total"}); got.Class != driver.OK {
					s.Errorf("got %+v", got)
				}
			}
		})
	}
	writers.Wait()
	s.wantCount(d, driver.Op{ID: "total"}, 40)
}

func (s inStore) failChecksum() {
	d, op := s.claimed(), Update(0, "right")
	another, later := op.Record, op.Record
	another.Writer, later.Seq = "another writer", 9
	for what, spoil := range map[string]func(){
		"another value":    func() { s.Put(true, op.ID, op.Record, []byte("wrong")) },
		"another writer":   func() { s.Put(true, op.ID, another, op.Value) },
		"another sequence": func() { s.Put(true, op.ID, later, op.Value) },
	} {
		s.ok(d, op)
		spoil()
		s.wantSpoilt(d, op.ID, what)
	}
}

func (s inStore) misshape() {
	d, op := s.claimed(), Update(0, "right")
	for way, ways := 0, 1; way < ways; way++ {
		s.ok(d, op)
		ways = s.Misshape(op.ID, way)
		s.wantSpoilt(d, op.ID, way)
	}
}

// wantSpoilt wants every way of reading to tell it.
func (s inStore) wantSpoilt(d driver.Driver, id string, how any) {
	s.Helper()
	s.Logf("spoilt: %v", how)
	whole := Update(1, "whole")
	s.ok(d, whole)
	s.refused(d, lookUp(id), driver.CauseIntegrity)
	both := driver.Op{Kind: driver.Batch, Stream: 1, IDs: []string{whole.ID, id}, Verified: true}
	s.refused(d, both, driver.CauseIntegrity)
	if back := ReadBack(s, d, false, id)[id]; back.ChecksumOK {
		s.Errorf("read back as %+v", back)
	}
}
