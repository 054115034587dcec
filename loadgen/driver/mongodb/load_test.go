package mongodb

import (
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func opts() *options.ClientOptions { return options.Client() }

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
	server := sharedMongod(t)
	d := opened(t, server, nil)
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
	left := server.direct(t, opts()).Database(namespace(t)).Collection(collectionCanary)
	if _, err := left.InsertOne(t.Context(), bson.D{{Key: "value", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := d.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	names, err := server.direct(t, opts()).ListDatabaseNames(t.Context(), bson.D{{Key: "name", Value: namespace(t)}})
	if err != nil || len(names) != 0 {
		t.Errorf("after cleaning there is still %v, %v", names, err)
	}
}

func TestAWholeDataSetIsUsedAgainAndTheLedgerIsNot(t *testing.T) {
	server := sharedMongod(t)
	load(t, opened(t, server, nil))
	d := opened(t, server, func(c *driver.Config) { c.Writer = "run-2" })
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
		"one is missing":  func(d *Driver) { _, _ = d.streams[0].data.DeleteOne(t.Context(), byID(driver.DataID(3))) },
		"one is inserted": func(d *Driver) { do(t, d, inserted) },
		"half loaded": func(d *Driver) {
			_, _ = d.streams[0].client.Database(d.config.Namespace).Collection(collectionMeta).
				UpdateOne(t.Context(), byID(markerID), bson.D{{Key: "$unset", Value: bson.D{{Key: "data", Value: 1}}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			first := opened(t, sharedMongod(t), nil)
			load(t, first)
			spoil(first)
			second := opened(t, sharedMongod(t), func(c *driver.Config) { c.Writer = "run-2" })
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
	server := sharedMongod(t)
	foreign := server.direct(t, opts()).Database(namespace(t)).Collection("customers")
	if _, err := foreign.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	d := opened(t, server, nil)
	err := d.Load(t.Context(), dataset("run-1"), func(uint64, uint64) { t.Error("it wrote") })
	for _, wanted := range []string{"was not made by brownout", "customers", "namespace", server.address} {
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%q is not in: %v", wanted, err)
		}
	}
	if err := d.Clean(t.Context()); err == nil || !strings.Contains(err.Error(), "was not made by brownout") {
		t.Errorf("cleaning it gave %v", err)
	}
	if n, err := foreign.CountDocuments(t.Context(), bson.D{}); err != nil || n != 1 {
		t.Errorf("the foreign collection has %d documents, %v", n, err)
	}
}

func TestADataSetThatIsSaidToBeThereIsLookedFor(t *testing.T) {
	server := sharedMongod(t)
	reuse := func(c *driver.Config) { c.Reuse = true }
	refused := func(wanted string) {
		t.Helper()
		config := driver.Config{Reuse: true, Namespace: namespace(t)}
		if err := openedBadly(t, server, config); !strings.Contains(err, wanted) {
			t.Errorf("%q is not in: %s", wanted, err)
		}
	}
	refused("holds no complete data set")
	foreign := server.direct(t, opts()).Database(namespace(t)).Collection(collectionData)
	if _, err := foreign.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	refused("was not made by brownout")
	if err := foreign.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	load(t, opened(t, server, nil))
	if got := do(t, opened(t, server, reuse), update("v")); got.Class != driver.OK {
		t.Errorf("got %+v", got)
	}
}
