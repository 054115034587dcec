package aerospike

import (
	"strings"
	"sync/atomic"
	"testing"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func dataset(writer string) driver.Dataset {
	return driver.Dataset{
		Keys: 1200, ValueBytes: 16, Concurrency: 4, Writer: writer,
		Value:       func(uint64) ([]byte, int) { return []byte("0123456789abcdef"), 1 },
		LedgerValue: func(int, uint64) ([]byte, int) { return []byte("0123456789abcdef"), 1 },
		Ledger: []driver.LedgerSet{
			{Stream: 1, Name: "orders", Keys: 30},
			{Stream: 1, Name: "orders", Keys: 5, Counter: true},
		},
	}
}

// load loads the data set and returns how far the progress came.
func load(t *testing.T, d *Driver) uint64 {
	t.Helper()
	var most atomic.Uint64
	err := d.Load(t.Context(), dataset(d.config.Writer), func(n, total uint64) {
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		if total != 1235 {
			t.Errorf("the total is %d", total)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return most.Load()
}

var backs = drivertest.ReadBack

func TestALoadIsReadBackAndCleaned(t *testing.T) {
	c := sharedCluster(t)
	d := opened(t, c, nil)
	if done := load(t, d); done != 1235 {
		t.Errorf("progress ended at %d of 1235", done)
	}
	plain := do(t, d, driver.Op{Kind: driver.Read, ID: driver.DataID(1199)})
	if !plain.Found || plain.Record.Writer != "run-1" {
		t.Errorf("the last plain record: %+v", plain)
	}
	register, gone := driver.LedgerID("orders", false, 29), driver.LedgerID("orders", false, 30)
	got := backs(t, d, false, register, gone)
	if back := got[register]; !back.ChecksumOK || back.Record.Seq != 1 || back.Record.Writer != "run-1" {
		t.Errorf("a register: %+v", back)
	}
	if !got[gone].Missing {
		t.Errorf("a key that never was: %+v", got[gone])
	}
	count := driver.LedgerID("orders", true, 4)
	do(t, d, driver.Op{Kind: driver.Increment, Stream: 1, ID: count, Verified: true})
	if back := backs(t, d, true, count)[count]; back.Value != 1 || !back.ChecksumOK {
		t.Errorf("a counter: %+v", back)
	}
	putCanary(t, d)
	if err := d.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sets := c.nodes[0].info("sets/test"); strings.Contains(sets, prefix(t)) {
		t.Errorf("after cleaning there is still %s", sets)
	}
	if err := d.Clean(t.Context()); err != nil {
		t.Errorf("cleaning once more: %v", err)
	}
}

// putCanary leaves what a canary that was killed leaves.
func putCanary(t *testing.T, d *Driver) {
	t.Helper()
	own, err := d.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if err := own.Put(own.write, own.key(own.sets.canary, "1"), client.BinMap{"value": 1}); err != nil {
		t.Fatal(err)
	}
}

func TestAWholeDataSetIsUsedAgainAndTheLedgerIsNot(t *testing.T) {
	c := sharedCluster(t)
	load(t, opened(t, c, nil))
	d := opened(t, c, func(c *driver.Config) { c.Writer = "run-2" })
	load(t, d)
	if plain := do(t, d, driver.Op{Kind: driver.Read, ID: driver.DataID(7)}); plain.Record.Writer != "run-1" {
		t.Errorf("the data set was written again: %+v", plain.Record)
	}
	id := driver.LedgerID("orders", false, 7)
	if back := backs(t, d, false, id)[id]; back.Record.Writer != "run-2" {
		t.Errorf("the ledger was not: %+v", back.Record)
	}
}

func TestADataSetThatIsNotWholeIsWrittenAgain(t *testing.T) {
	inserted := driver.Op{Kind: driver.Insert, ID: driver.InsertID(0, 0), Value: []byte("v")}
	for name, spoil := range map[string]func(*Driver, *client.Key){
		"one is missing":  func(d *Driver, key *client.Key) { _, _ = d.client.Delete(nil, key) },
		"one is inserted": func(d *Driver, _ *client.Key) { do(t, d, inserted) },
		"half loaded": func(d *Driver, _ *client.Key) {
			control, err := d.control(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer control.Close()
			mark, _ := control.readMarker()
			mark.Data = nil
			_ = control.putMarker(mark, "run-1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := opened(t, sharedCluster(t), nil)
			load(t, first)
			key, _ := client.NewKey("test", first.sets.data, driver.DataID(3))
			spoil(first, key)
			second := opened(t, sharedCluster(t), func(c *driver.Config) { c.Writer = "run-2" })
			load(t, second)
			for _, n := range []uint64{3, 7} {
				got := do(t, second, driver.Op{Kind: driver.Read, ID: driver.DataID(n)})
				if !got.Found || got.Record.Writer != "run-2" {
					t.Errorf("key %d was not written again: %+v", n, got)
				}
			}
			if got := do(t, second, inserted); got.Class != driver.OK {
				t.Errorf("what was inserted is still there: %+v", got)
			}
		})
	}
}

// TestTheMarkerOutlivesALostPartition: as long as one of its copies is there, the
// sets are ours.
func TestTheMarkerOutlivesLostPartitions(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	load(t, d)
	control, err := d.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	for i := range markerCopies - 1 {
		if _, err := control.Delete(control.write, control.markerKey(i)); err != nil {
			t.Fatal(err)
		}
	}
	load(t, d)
	if mark, err := control.readMarker(); err != nil || mark == nil || mark.Data == nil {
		t.Errorf("got %+v, %v", mark, err)
	}
}

func TestSetsOfSomebodyElseAreLeftAlone(t *testing.T) {
	c := sharedCluster(t)
	d := opened(t, c, nil)
	foreign, _ := client.NewKey("test", d.sets.data, "customer")
	if err := d.client.Put(nil, foreign, client.BinMap{"name": "x"}); err != nil {
		t.Fatal(err)
	}
	err := d.Load(t.Context(), dataset("run-1"), func(uint64, uint64) { t.Error("it wrote") })
	for _, wanted := range []string{"not made by brownout", d.sets.data + ": 1", "`namespace`", c.nodes[0].address()} {
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%q is not in: %v", wanted, err)
		}
	}
	if err := d.Clean(t.Context()); err == nil || !strings.Contains(err.Error(), "not made by brownout") {
		t.Errorf("cleaning it gave %v", err)
	}
	if there, err := d.client.Exists(nil, foreign); !there || err != nil {
		t.Errorf("the foreign record: %v, %v", there, err)
	}
}

func TestTheMarkerOfAnotherToolIsRefused(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	control, err := d.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	if err := control.putMarker(&marker{MadeBy: "somebody", Schema: 9}, "w"); err != nil {
		t.Fatal(err)
	}
	err = d.Load(t.Context(), dataset("run-1"), func(uint64, uint64) { t.Error("it wrote") })
	if err == nil || !strings.Contains(err.Error(), `"somebody", schema 9 (wanted brownout, schema 1)`) {
		t.Errorf("got %v", err)
	}
}

func TestADataSetThatIsSaidToBeThereIsLookedFor(t *testing.T) {
	c := sharedCluster(t)
	config := configFor(t, c)
	config.Reuse = true
	if said := refused(t, config); !strings.Contains(said, "holds no complete data set") {
		t.Errorf("got %s", said)
	}
	load(t, opened(t, c, nil))
	d := opened(t, c, func(c *driver.Config) { c.Reuse = true })
	if got := do(t, d, update(1, "v")); got.Class != driver.OK {
		t.Errorf("got %+v", got)
	}
}
