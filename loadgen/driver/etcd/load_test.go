package etcd

import (
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func dataset(writer string) driver.Dataset {
	return driver.Dataset{
		Keys: 2500, ValueBytes: 16, Concurrency: 4, Writer: writer,
		Value:       func(uint64) ([]byte, int) { return []byte("0123456789abcdef"), 1 },
		LedgerValue: func(int, uint64) ([]byte, int) { return []byte("0123456789abcdef"), 1 },
		Ledger: []driver.LedgerSet{
			{Stream: 1, Name: "orders", Keys: 30},
			{Stream: 1, Name: "orders", Keys: 5, Counter: true},
		},
	}
}

// load loads the data set and returns the last progress.
func load(t *testing.T, d *Driver) (done uint64) {
	t.Helper()
	var lock sync.Mutex
	err := d.Load(t.Context(), dataset(d.config.Writer), func(n, total uint64) {
		lock.Lock()
		defer lock.Unlock()
		done = max(done, n)
		if total != 2535 {
			t.Errorf("the total is %d", total)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

var backs = drivertest.ReadBack

func TestALoadIsReadBackAndCleaned(t *testing.T) {
	c := sharedCluster(t)
	d := opened(t, c, nil)
	if done := load(t, d); done != 2535 {
		t.Errorf("progress ended at %d of 2535", done)
	}
	plain := do(t, d, driver.Op{Kind: driver.Read, ID: driver.DataID(2499)})
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
	put(t, d, d.folder(folderCanary)+"1", "1")
	if err := d.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := c.direct(t, c.servers[0]).Get(t.Context(), namespace(t)+"/", clientv3.WithPrefix())
	if err != nil || left.Count != 0 {
		t.Errorf("after cleaning there is still %v, %v", left, err)
	}
}

func TestAWholeDataSetIsUsedAgainAndTheLedgerIsNot(t *testing.T) {
	c := sharedCluster(t)
	load(t, opened(t, c, nil))
	d := opened(t, c, func(config *driver.Config) { config.Writer = "run-2" })
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
	inserted := driver.Op{Kind: driver.Insert, ID: driver.InsertID(0, 0)}
	for name, spoil := range map[string]func(*Driver){
		"one is missing":  func(d *Driver) { remove(t, d, d.keyOf(false, driver.DataID(3))) },
		"one is inserted": func(d *Driver) { do(t, d, inserted) },
		"half loaded": func(d *Driver) {
			mark, _ := markerOf(t, d)
			mark.Data = nil
			putMarkerOf(t, d, mark)
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := opened(t, sharedCluster(t), nil)
			load(t, first)
			spoil(first)
			second := opened(t, sharedCluster(t), func(config *driver.Config) { config.Writer = "run-2" })
			load(t, second)
			for _, key := range []uint64{3, 7} {
				got := do(t, second, driver.Op{Kind: driver.Read, ID: driver.DataID(key)})
				if !got.Found || got.Record.Writer != "run-2" {
					t.Errorf("key %d was not written again: %+v", key, got)
				}
			}
			if got := do(t, second, driver.Op{Kind: driver.Read, ID: inserted.ID}); got.Found {
				t.Error("what was inserted is still there")
			}
		})
	}
}

func TestADatabaseOfSomebodyElseIsLeftAlone(t *testing.T) {
	c := sharedCluster(t)
	d := opened(t, c, nil)
	foreign := namespace(t) + "/customers"
	put(t, d, foreign, "1")
	err := d.Load(t.Context(), dataset("run-1"), func(uint64, uint64) { t.Error("it wrote") })
	for _, wanted := range []string{"not made by brownout", "customers", "namespace", c.servers[0].address} {
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%q is not in: %v", wanted, err)
		}
	}
	if err := d.Clean(t.Context()); err == nil || !strings.Contains(err.Error(), "not made by brownout") {
		t.Errorf("cleaning it gave %v", err)
	}
	if left := get(t, d, foreign); left != "1" {
		t.Errorf("the foreign key has %q", left)
	}
}

func TestADataSetThatIsSaidToBeThereIsLookedFor(t *testing.T) {
	c := sharedCluster(t)
	reuse := func(config *driver.Config) { config.Reuse = true }
	refused := func(wanted string) {
		t.Helper()
		config := driver.Config{URI: c.uri(), Reuse: true, Namespace: namespace(t)}
		if err := openedFrom(t, config); !strings.Contains(err, wanted) {
			t.Errorf("%q is not in: %s", wanted, err)
		}
	}
	refused("holds no complete data set")
	d := opened(t, c, nil)
	foreign := d.keyOf(false, "1")
	put(t, d, foreign, "1")
	refused("not made by brownout")
	remove(t, d, foreign)
	load(t, d)
	if got := do(t, opened(t, c, reuse), update("v")); got.Class != driver.OK {
		t.Errorf("got %+v", got)
	}
}

func controlled(t *testing.T, d *Driver) *control {
	t.Helper()
	c, err := d.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func markerOf(t *testing.T, d *Driver) (*marker, error) {
	t.Helper()
	return controlled(t, d).readMarker(t.Context())
}

func putMarkerOf(t *testing.T, d *Driver, mark *marker) {
	t.Helper()
	if err := controlled(t, d).putMarker(t.Context(), mark); err != nil {
		t.Fatal(err)
	}
}
