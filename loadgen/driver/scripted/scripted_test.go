package scripted

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/scriptserver"
)

// cluster starts a server with the script, and a driver with its data loaded:
// ten plain keys, five registers and five counters. The script has not begun.
func cluster(t *testing.T, text string) (*scriptserver.Server, *Driver) {
	t.Helper()
	script, err := scriptserver.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	server, err := scriptserver.New(script, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	d := client(t, server, "run-1")
	if err := d.Load(context.Background(), dataset("run-1"), func(uint64, uint64) {}); err != nil {
		t.Fatal(err)
	}
	return server, d
}

func client(t *testing.T, server *scriptserver.Server, writer string) *Driver {
	t.Helper()
	d := new(Driver)
	t.Cleanup(d.Close)
	config := driver.Config{URI: "scripted://" + server.Address(), Namespace: "ns", Writer: writer}
	if err := d.Open(context.Background(), config); err != nil {
		t.Fatal(err)
	}
	return d
}

func dataset(writer string) driver.Dataset {
	return driver.Dataset{
		Keys: 10, ValueBytes: 5, Concurrency: 4, Writer: writer,
		Value:       func(uint64) ([]byte, int) { return []byte("value"), 1 },
		LedgerValue: func(int, uint64) ([]byte, int) { return []byte("value"), 1 },
		Ledger: []driver.LedgerSet{
			{Stream: 0, Name: "app", Keys: 5}, {Stream: 0, Name: "app", Keys: 5, Counter: true},
		},
	}
}

func do(d *Driver, deadline time.Duration, op driver.Op) driver.Result {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	return d.Do(ctx, &op)
}

func register(key, seq uint64) driver.Op {
	id, value := driver.LedgerID("app", false, key), []byte("newer")
	return driver.Op{Kind: driver.Update, ID: id, Value: value, Record: driver.NewRecord("run-1", id, seq, value)}
}

func readBack(t *testing.T, d *Driver, counter bool) map[string]driver.ReadBack {
	t.Helper()
	var mu sync.Mutex
	found := map[string]driver.ReadBack{}
	ids := []string{"none"}
	for key := range uint64(5) {
		ids = append(ids, driver.LedgerID("app", counter, key))
	}
	err := d.ReadBack(context.Background(), true, ids, counter, func(back driver.ReadBack) {
		mu.Lock()
		defer mu.Unlock()
		found[back.ID] = back
	})
	if err != nil || len(found) != len(ids) || !found["none"].Missing {
		t.Fatalf("read back %v, %v", found, err)
	}
	return found
}

func TestOperationsWorkOnStoredRecords(t *testing.T) {
	_, d := cluster(t, "lanes: 3")
	read := do(d, time.Second, driver.Op{Kind: driver.Read, ID: driver.DataID(3)})
	if read.Class != driver.OK || !read.Found || read.Record.Writer != "run-1" {
		t.Errorf("read %+v", read)
	}
	if missing := do(d, time.Second, driver.Op{Kind: driver.Read, ID: "none"}); missing.Class != driver.OK || missing.Found {
		t.Errorf("read of nothing %+v", missing)
	}
	if updated := do(d, time.Second, register(2, 2)); updated.Class != driver.OK {
		t.Errorf("update %+v", updated)
	}
	for want := range int64(2) {
		got := do(d, time.Second, driver.Op{Kind: driver.Increment, ID: driver.LedgerID("app", true, 1)})
		if got.Class != driver.OK || got.Value != want+1 {
			t.Errorf("increment %+v, wanted %d", got, want+1)
		}
	}
	registers, counters := readBack(t, d, false), readBack(t, d, true)
	if two := registers["app:r00000002"]; two.Record.Seq != 2 || !two.ChecksumOK {
		t.Errorf("read back %+v", two)
	}
	if one := registers["app:r00000001"]; one.Record.Seq != 1 || !one.ChecksumOK {
		t.Errorf("read back %+v", one)
	}
	if counters["app:c00000001"].Value != 2 || counters["app:c00000002"].Value != 0 {
		t.Errorf("read back %+v", counters)
	}
}

func TestKeysSpreadOverTheLanes(t *testing.T) {
	_, d := cluster(t, "lanes: 5")
	counts := map[string]int{}
	for key := range uint64(5000) {
		counts[d.Lane(&driver.Op{ID: driver.DataID(key)})]++
	}
	for lane, n := range counts {
		if n < 900 || n > 1100 {
			t.Errorf("lane %s has %d of 5000 keys", lane, n)
		}
	}
}

func TestAForeignNamespaceIsRefusedAndCleaningEmptiesOurs(t *testing.T) {
	server, d := cluster(t, "lanes: 2")
	if err := d.Clean(context.Background()); err != nil {
		t.Fatal(err)
	}
	if read := do(d, time.Second, driver.Op{Kind: driver.Read, ID: driver.DataID(3)}); read.Found {
		t.Error("a record is still there")
	}
	for key := range uint64(10) { // records that no load claimed
		do(d, time.Second, register(key, 1))
	}
	other := client(t, server, "run-2")
	err := other.Load(context.Background(), dataset("run-2"), func(uint64, uint64) {})
	if err == nil || !strings.Contains(err.Error(), "`ns` holds records that no load made") {
		t.Errorf("got %v", err)
	}
}

func TestAnswersFollowTheScript(t *testing.T) {
	cases := map[string]struct {
		effect string
		read   driver.Result
		write  driver.Result
		seq    uint64 // found afterwards; 2 was written
	}{
		"error": {"effect: error, code: x", failed(driver.CauseOverloaded, "x"), failed(driver.CauseOverloaded, "x"), 1},
		"in doubt": {"effect: error, in_doubt: true, applied: true, cause: quorum-unavailable",
			failed(driver.CauseQuorumUnavailable, ""), inDoubt(driver.CauseQuorumUnavailable, true), 2},
		"silence": {"effect: silence",
			driver.Result{Class: driver.Failed, Cause: driver.CauseTotalTimeout, Sent: true}, inDoubt(driver.CauseTotalTimeout, false), 1},
		"lose":    {"effect: lose", driver.Result{Sent: true, Found: true}, driver.Result{Sent: true}, 1},
		"corrupt": {"effect: corrupt", driver.Result{Sent: true, Found: true}, driver.Result{Sent: true}, 2},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, d := cluster(t, fmt.Sprintf("effects: [{at: 0, for: 60, %s}]", test.effect))
			d.Started(time.Now())
			read := do(d, 200*time.Millisecond, driver.Op{Kind: driver.Read, ID: driver.DataID(1)})
			read.Record = nil
			if read != test.read {
				t.Errorf("read: got %+v, wanted %+v", read, test.read)
			}
			if write := do(d, 200*time.Millisecond, register(0, 2)); write != test.write {
				t.Errorf("write: got %+v, wanted %+v", write, test.write)
			}
			found := readBack(t, d, false)["app:r00000000"]
			if found.Record.Seq != test.seq || found.ChecksumOK == (name == "corrupt") {
				t.Errorf("found %+v, %+v, wanted sequence %d", found, found.Record, test.seq)
			}
		})
	}
}

func failed(cause driver.Cause, code string) driver.Result {
	return driver.Result{Class: driver.Failed, Cause: cause, Code: code, Sent: true, Retryable: true}
}

func inDoubt(cause driver.Cause, retryable bool) driver.Result {
	return driver.Result{Class: driver.InDoubt, Cause: cause, Sent: true, Retryable: retryable}
}

func TestACorruptRecordIsNoticedByItsReader(t *testing.T) {
	_, d := cluster(t, "effects: [{at: 0, for: 60, effect: corrupt}]")
	d.Started(time.Now())
	do(d, time.Second, register(0, 2))
	got := do(d, time.Second, driver.Op{Kind: driver.Read, ID: driver.LedgerID("app", false, 0)})
	if got.Class != driver.Failed || got.Cause != driver.CauseIntegrity {
		t.Errorf("got %+v", got)
	}
}

// await polls until ok, for as long as a slow machine may need.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestALateWriteOverwritesANewerOne(t *testing.T) {
	server, d := cluster(t, "effects: [{at: 0, for: 0.3, effect: late, delay: 1}]")
	d.Started(time.Now())
	if got := do(d, 100*time.Millisecond, register(0, 2)); got != inDoubt(driver.CauseTotalTimeout, false) {
		t.Errorf("got %+v", got)
	}
	await(t, "the effect is over", func() bool { return server.Truth().EndT > 0.3 })
	if got := do(d, 10*time.Second, register(0, 3)); got.Class != driver.OK {
		t.Errorf("got %+v", got)
	}
	await(t, "the late write was applied", func() bool { return len(server.Truth().Late) == 1 })
	if late := server.Truth().Late[0]; late.Seq != 2 || late.Replaced != 3 || late.Key != "app:r00000000" {
		t.Errorf("the truth is %+v", late)
	}
	if found := readBack(t, d, false)["app:r00000000"].Record.Seq; found != 2 {
		t.Errorf("found sequence %d, wanted the late one, 2", found)
	}
}

func TestAFrozenLaneAppliesEverythingAtTheEnd(t *testing.T) {
	server, d := cluster(t, "effects: [{at: 0, for: 1, effect: freeze}]")
	d.Started(time.Now())
	if got := do(d, 100*time.Millisecond, register(0, 2)); got != inDoubt(driver.CauseTotalTimeout, false) {
		t.Errorf("got %+v", got)
	}
	if got := do(d, 10*time.Second, register(1, 2)); got.Class != driver.OK {
		t.Errorf("got %+v", got)
	}
	truth := server.Truth()
	if ended := truth.Effects[0].EndedT; ended == nil || *ended < 1 || *ended > truth.EndT {
		t.Errorf("answered at %v of %v s; the freeze ends at 1", ended, truth.EndT)
	}
	if found := readBack(t, d, false)["app:r00000000"]; found.Record.Seq != 2 {
		t.Errorf("found %+v", found.Record)
	}
}

func TestALaneThatRefusesComesBack(t *testing.T) {
	server, d := cluster(t, "effects: [{at: 0, for: 0.6, effect: refuse}]")
	d.Started(time.Now())
	read := driver.Op{Kind: driver.Read, ID: driver.DataID(1)}
	await(t, "refused", func() bool {
		got := do(d, time.Second, read)
		return got.Class == driver.Failed && got.Cause == driver.CauseConnectRefused && !got.Sent && got.Retryable
	})
	await(t, "answered again", func() bool { return do(d, time.Second, read).Class == driver.OK })
	await(t, "the truth is known", func() bool { return server.Truth().Effects[0].EndedT != nil })
	effect := server.Truth().Effects[0]
	if *effect.BeganT < 0 || *effect.EndedT < 0.6 {
		t.Errorf("refused from %v to %v", *effect.BeganT, *effect.EndedT)
	}
}

func TestADroppedConnectionLeavesWritesInDoubt(t *testing.T) {
	_, d := cluster(t, "latency_ms: 1000\neffects: [{at: 0.5, effect: drop}]")
	d.Started(time.Now())
	if got := do(d, 10*time.Second, register(0, 2)); got != inDoubt(driver.CauseConnectionReset, true) {
		t.Errorf("got %+v", got)
	}
	await(t, "it was applied all the same", func() bool {
		return readBack(t, d, false)["app:r00000000"].Record.Seq == 2
	})
}

func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	err := new(Driver).Open(context.Background(), driver.Config{URI: "scripted://127.0.0.1:1"})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("got %v", err)
	}
	err = new(Driver).Open(context.Background(), driver.Config{Options: map[string]any{"pools": 3}})
	if err == nil || !strings.Contains(err.Error(), "pools") {
		t.Errorf("got %v", err)
	}
}

func TestABatchReadsOneAfterTheOtherAndMissesNone(t *testing.T) {
	_, d := cluster(t, "lanes: 3")
	batch := driver.Op{Kind: driver.Batch, IDs: []string{driver.DataID(0), driver.DataID(9)}}
	if got := do(d, time.Second, batch); got.Class != driver.OK || !got.Found {
		t.Errorf("got %+v", got)
	}
	batch.IDs = append(batch.IDs, "missing", driver.DataID(1))
	if got := do(d, time.Second, batch); got.Class != driver.OK || got.Found {
		t.Errorf("one is missing: %+v", got)
	}
}
