package aerospike

import (
	"context"
	"testing"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
)

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
	if got["socket_timeout_ms"] != 200 || got["max_error_rate"] != 7 || got["connection_queue_size"] != 201 {
		t.Errorf("got %v", got)
	}
}
