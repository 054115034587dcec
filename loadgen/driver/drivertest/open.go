package drivertest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"
	"time"

	"brownout/loadgen/driver"
)

// RunID is the writer of Config.
const RunID = "run-1"

// Config has the streams app and orders, of which orders is verified, in a namespace of the test's own.
func Config(t testing.TB, uri string) driver.Config {
	return driver.Config{
		URI: uri, Namespace: Namespace(t), Writer: RunID,
		Streams: []driver.StreamConfig{
			{Name: "app", DeadlineS: 1, Retries: driver.RetriesNone},
			{Name: "orders", DeadlineS: 1, Retries: driver.RetriesNone, Verified: true},
		},
	}
}

// Namespace is the test's own: a name that every database takes.
func Namespace(t testing.TB) string {
	return fmt.Sprintf("t%x", sha256.Sum256([]byte(t.Name())))[:20]
}

// Opened returns the driver, open until the test ends.
func Opened[D driver.Driver](t testing.TB, d D, config driver.Config, change func(*driver.Config)) D {
	t.Helper()
	if change != nil {
		change(&config)
	}
	t.Cleanup(d.Close)
	if err := d.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	return d
}

// Refusal returns why the driver does not open, in a few seconds.
func Refusal(t testing.TB, d driver.Driver, config driver.Config, change func(*driver.Config)) string {
	t.Helper()
	if change != nil {
		change(&config)
	}
	return refusal(t, d, config, 3*time.Second)
}

func refusal(t testing.TB, d driver.Driver, config driver.Config, within time.Duration) string {
	t.Helper()
	defer d.Close()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	err := d.Open(ctx, config)
	if err == nil {
		t.Fatal("it opened")
	}
	return err.Error()
}

// Update is a write of sequence 2 to a ledger key.
func Update(key uint64, value string) driver.Op {
	id := driver.LedgerID("orders", false, key)
	return driver.Op{
		Kind: driver.Update, Stream: 1, Key: key, ID: id, Verified: true, Value: []byte(value),
		Record: driver.NewRecord(RunID, id, 2, []byte(value)),
	}
}

// Do does one operation within a second.
func Do(t testing.TB, d driver.Driver, op driver.Op) driver.Result {
	t.Helper()
	return doWithin(t, d, op, time.Second)
}

// patience is how long an operation may take that no fault keeps from being done.
const patience = 30 * time.Second

// DoPatiently does one operation that no deadline is to end.
func DoPatiently(t testing.TB, d driver.Driver, op driver.Op) driver.Result {
	t.Helper()
	return doWithin(t, d, op, patience)
}

func doWithin(t testing.TB, d driver.Driver, op driver.Op, limit time.Duration) driver.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return d.Do(ctx, &op)
}

// ReadBack is what is stored of these verified keys.
func ReadBack(t testing.TB, d driver.Driver, counter bool, ids ...string) map[string]driver.ReadBack {
	t.Helper()
	return readBack(t, d, true, counter, ids...)
}

func readBack(t testing.TB, d driver.Driver, verified, counter bool, ids ...string) map[string]driver.ReadBack {
	t.Helper()
	var mu sync.Mutex
	found := map[string]driver.ReadBack{}
	err := d.ReadBack(t.Context(), verified, ids, counter, func(b driver.ReadBack) {
		mu.Lock()
		defer mu.Unlock()
		found[b.ID] = b
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
