package aerospike

import (
	"context"
	"testing"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestAWriteIsReadBackAsItWas(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	op := update(1, "hello")
	if got := do(t, d, op); got.Class != driver.OK || !got.Sent || got.Attempts != 1 {
		t.Fatalf("got %+v", got)
	}
	got := do(t, d, read(op))
	if !got.Found || got.Class != driver.OK || *got.Record != op.Record {
		t.Errorf("got %+v", got)
	}
	if got := do(t, d, driver.Op{Kind: driver.Read, ID: op.ID}); got.Class != driver.OK || got.Found {
		t.Errorf("the plain data set has a key of the ledger: %+v", got)
	}
}

func TestAnUpdateReplacesTheWholeRecord(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	op := update(1, "a")
	key, _ := client.NewKey("test", d.sets.ledger, op.ID)
	if err := d.client.Put(nil, key, client.BinMap{"more": 1}); err != nil {
		t.Fatal(err)
	}
	do(t, d, op)
	if record, err := d.client.Get(nil, key); err != nil || len(record.Bins) != 4 {
		t.Errorf("got %v, %v", record, err)
	}
}

func TestAnIncrementCountsFromNothing(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	op := driver.Op{Kind: driver.Increment, Stream: 1, ID: driver.LedgerID("orders", true, 0), Verified: true}
	for range 3 {
		if got := do(t, d, op); got.Class != driver.OK {
			t.Fatalf("got %+v", got)
		}
	}
	if got := do(t, d, read(op)); got.Value != 3 || !got.Found || got.Class != driver.OK {
		t.Errorf("got %+v", got)
	}
}

func TestAnOperationOfSeveralStepsWritesAndReads(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	op := update(1, "hello")
	op.Kind = driver.Operate
	if got := do(t, d, op); got.Class != driver.OK || !got.Sent {
		t.Fatalf("got %+v", got)
	}
	if got := do(t, d, read(op)); !got.Found || *got.Record != op.Record {
		t.Errorf("got %+v", got)
	}
}

func TestABatchIsGoodIfEveryRecordIs(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	batch := driver.Op{Kind: driver.Batch, Stream: 1, Verified: true}
	for key := range uint64(20) {
		op := update(key, "hello")
		do(t, d, op)
		batch.IDs = append(batch.IDs, op.ID, op.ID)
	}
	if got := do(t, d, batch); got.Class != driver.OK || !got.Found {
		t.Errorf("all of them: %+v", got)
	}
	if lane := d.Lane(&batch); lane != laneNodes {
		t.Errorf("its lane is %q", lane)
	}
	batch.IDs = append(batch.IDs, update(20, "").ID)
	if got := do(t, d, batch); got.Class != driver.OK || got.Found {
		t.Errorf("one is missing: %+v", got)
	}
	key, _ := client.NewKey("test", d.sets.ledger, batch.IDs[0])
	if err := d.client.Put(nil, key, client.BinMap{binSeq: 9}); err != nil {
		t.Fatal(err)
	}
	batch.IDs = batch.IDs[:20]
	if got := do(t, d, batch); got.Class != driver.Failed || got.Cause != driver.CauseIntegrity {
		t.Errorf("one is damaged: %+v", got)
	}
}

func TestAnInsertOfAKeyThatIsThereFails(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	op := driver.Op{Kind: driver.Insert, ID: driver.InsertID(0, 7), Value: []byte("v")}
	if got := do(t, d, op); got.Class != driver.OK {
		t.Fatalf("got %+v", got)
	}
	got := do(t, d, op)
	if got.Class != driver.Failed || got.Cause != driver.CauseKeyBusy || got.Code != "5 KEY_EXISTS_ERROR" || got.Retryable {
		t.Errorf("got %+v", got)
	}
}

func TestARecordThatDoesNotFitItsChecksumFailsTheRead(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	for name, spoiled := range map[string]client.BinMap{
		"another value":    {driver.FieldNames[0]: []byte("other")},
		"another sequence": {binSeq: 9},
		"a bin of no sort": {binChecksum: "x"},
	} {
		op := update(1, "hello")
		do(t, d, op)
		key, _ := client.NewKey("test", d.sets.ledger, op.ID)
		if err := d.client.Put(nil, key, spoiled); err != nil {
			t.Fatal(err)
		}
		if got := do(t, d, read(op)); got.Class != driver.Failed || got.Cause != driver.CauseIntegrity {
			t.Errorf("%s: got %+v", name, got)
		}
		if back := drivertest.ReadBack(t, d, false, op.ID)[op.ID]; back.ChecksumOK {
			t.Errorf("%s: read back as %+v", name, back)
		}
	}
}

func TestWithoutTimeNothingIsSent(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Millisecond))
	defer cancel()
	op := update(1, "v")
	got := d.Do(ctx, &op)
	if got.Class != driver.Failed || got.Cause != driver.CauseTotalTimeout || got.Sent {
		t.Errorf("got %+v", got)
	}
}

func TestWhatTheServerRefusesIsNoDoubt(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	got := do(t, d, update(1, string(make([]byte, 2<<20))))
	if got.Class != driver.Failed || got.Code != "13 RECORD_TOO_BIG" || !got.Sent || got.Retryable {
		t.Errorf("got %+v", got)
	}
}

func TestThePoliciesAreOnRecord(t *testing.T) {
	d := opened(t, sharedCluster(t), func(c *driver.Config) {
		c.Options = map[string]any{"socket_timeout_ms": 200, "max_error_rate": 7}
		c.Streams[0].Retries = driver.RetriesDriverDefault
	})
	got := d.Settings()
	retries := got["driver_retries"].(map[string]string)
	if retries["app"] != "reads: 2 attempts in all; writes: off" || retries["orders"] != "off" {
		t.Errorf("got %v", retries)
	}
	if got["socket_timeout_ms"] != 200 || got["max_error_rate"] != 7 || got["connection_queue_size"] != 101 {
		t.Errorf("got %v", got)
	}
}
