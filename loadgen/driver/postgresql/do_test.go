package postgresql

import (
	"sync"
	"testing"

	"brownout/loadgen/driver"
)

func TestEveryKindOfOperationDoesWhatItSays(t *testing.T) {
	d := claimed(t, sharedServer(t))
	ok := func(op driver.Op) driver.Result {
		t.Helper()
		result := do(t, d, op)
		if result.Class != driver.OK || !result.Sent || result.Attempts != 1 {
			t.Fatalf("%v: %+v", op.Kind, result)
		}
		return result
	}
	written := update("new")
	ok(written)
	read := ok(driver.Op{Kind: driver.Read, Stream: 1, ID: written.ID, Verified: true})
	if !read.Found || read.Record == nil || *read.Record != written.Record {
		t.Errorf("read back %+v, wanted %+v", read.Record, written.Record)
	}
	if plain := ok(driver.Op{Kind: driver.Read, ID: written.ID}); plain.Found {
		t.Errorf("the plain data set has a key of the ledger: %+v", plain)
	}
	inserted := driver.Op{Kind: driver.Insert, ID: driver.InsertID(0, 1), Value: []byte("x")}
	inserted.Record = driver.NewRecord("run-1", inserted.ID, 0, inserted.Value)
	ok(inserted)
	again := do(t, d, inserted)
	if again.Class != driver.Failed || again.Cause != driver.CauseKeyBusy || again.Code != "exists" {
		t.Errorf("inserting it again: %+v", again)
	}
	exchanged := update("newer")
	exchanged.Kind = driver.Operate
	ok(exchanged)
	other := driver.LedgerID("orders", false, 1)
	all := driver.Op{Kind: driver.Batch, Stream: 1, IDs: []string{written.ID, written.ID}, Verified: true}
	if batch := ok(all); !batch.Found {
		t.Errorf("a batch: %+v", batch)
	}
	all.IDs = append(all.IDs, other)
	if batch := ok(all); batch.Found {
		t.Errorf("a batch of which one is missing: %+v", batch)
	}
	for range 3 {
		ok(driver.Op{Kind: driver.Increment, ID: "c"})
	}
	if count := ok(driver.Op{Kind: driver.Read, ID: "c"}); !count.Found || count.Value != 3 {
		t.Errorf("the counter: %+v", count)
	}
	if missing := ok(driver.Op{Kind: driver.Read, ID: "nobody"}); missing.Found {
		t.Errorf("a missing key: %+v", missing)
	}
}

func TestIncrementsOfSeveralWritersAllCount(t *testing.T) {
	d := claimed(t, sharedServer(t))
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 10 {
				if got := do(t, d, driver.Op{Kind: driver.Increment, ID: "total"}); got.Class != driver.OK {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
	writers.Wait()
	if got := do(t, d, driver.Op{Kind: driver.Read, ID: "total"}); got.Value != 40 {
		t.Errorf("40 increments made %d", got.Value)
	}
}

func TestARecordThatFailsItsChecksumIsAnIntegrityFailure(t *testing.T) {
	d := claimed(t, sharedServer(t))
	written := update("right")
	do(t, d, written)
	for _, spoilt := range []string{"value = 'wrong'", "writer = 'somebody else'", "seq = NULL"} {
		if _, err := d.pool.Exec(t.Context(), "UPDATE "+d.table(tableLedger)+" SET "+spoilt); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []driver.Kind{driver.Read, driver.Batch} {
			got := do(t, d, driver.Op{
				Kind: kind, Stream: 1, ID: written.ID, IDs: []string{written.ID}, Verified: true,
			})
			if got.Class != driver.Failed || got.Cause != driver.CauseIntegrity {
				t.Errorf("%v after %s: %+v", kind, spoilt, got)
			}
		}
	}
	if got := do(t, d, driver.Op{Kind: driver.Increment, ID: written.ID, Verified: true}); got.Cause != driver.CauseIntegrity {
		t.Errorf("adding to what is no counter: %+v", got)
	}
}
