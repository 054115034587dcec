package cassandra

import (
	"context"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// store is the keyspace of one test.
type store struct {
	*testing.T
	*cluster
	behind *Driver // a driver that loads nothing
}

func (s store) Open(change func(*driver.Config)) driver.Driver { return opened(s.T, s.cluster, change) }

func (s store) Refusal(change func(*driver.Config)) string {
	d := &Driver{}
	defer d.Close()
	err := d.Open(s.Context(), s.configuration(s.T, change))
	if err == nil {
		s.Fatal("it opened")
	}
	return err.Error()
}

func (s store) Delete(id string) {
	direct(s.T, s.behind, "DELETE FROM "+s.behind.table(tableData)+" WHERE id = ?", id)
}

func (s store) Store() driver.Store {
	c, err := s.behind.control(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

func (s store) PutCanary() {} // there is none

func (s store) PutForeign() []string {
	direct(s.T, s.behind, `CREATE KEYSPACE IF NOT EXISTS "`+namespace(s.T)+
		`" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`)
	direct(s.T, s.behind, "CREATE TABLE "+s.behind.table("customers")+" (id text PRIMARY KEY)")
	return []string{"customers", s.servers[0].address}
}

func (s store) RemoveForeign() { direct(s.T, s.behind, "DROP TABLE "+s.behind.table("customers")) }

func TestLoadsAreWhole(t *testing.T) {
	drivertest.LoadsAreWhole(t, func(t *testing.T) drivertest.Backdoor {
		c := sharedCluster(t)
		return store{t, c, opened(t, c, nil)}
	})
}

// patient has a deadline for busy machines.
type patient struct{ *Driver }

func (p patient) Do(_ context.Context, op *driver.Op) driver.Result {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return p.Driver.Do(ctx, op)
}

func stored(t *testing.T, d *Driver) drivertest.Stored {
	t.Helper()
	registers, counters := d.table(tableLedger), d.table(tableLedgerCounters)
	isCounter := func(id string) bool { return id[:len("orders:c")] == "orders:c" }
	ask := func(id string) found {
		t.Helper()
		look, statement := lookAtRecord, theRecord(registers)
		if isCounter(id) {
			look, statement = lookAtCounter, theCounter(counters)
		}
		f, err := look(t.Context(), d.session.Query(statement, id))
		if err != nil || !f.there {
			t.Fatalf("%s: %+v, %v", id, f, err)
		}
		return f
	}
	return drivertest.Stored{
		Driver: patient{d}, Writer: d.config.Writer,
		Remove: func(id string) {
			table := registers
			if isCounter(id) {
				table = counters
			}
			direct(t, d, "DELETE FROM "+table+" WHERE id = ?", id)
		},
		Keep: func(id string) func() {
			old := ask(id)
			return func() {
				if old.record == nil {
					direct(t, d, "UPDATE "+counters+" SET n = n - ? WHERE id = ?", ask(id).count-old.count, id)
					return
				}
				direct(t, d, "INSERT INTO "+registers+" ("+columns+") VALUES (?, ?, ?, ?, ?)", id, old.record.Writer,
					int64(old.record.Seq), int64(old.record.Checksum), []byte("value"))
			}
		},
	}
}

func TestLossesAreFound(t *testing.T) {
	drivertest.LossesAreFound(t, func(t *testing.T) drivertest.Stored {
		d := opened(t, sharedCluster(t), nil)
		load(t, d)
		return stored(t, d)
	})
}

func TestARecordOfAnotherRunIsToldAndLeftAlone(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	load(t, d)
	w := drivertest.NewWriter(t, stored(t, d), false)
	w.Writes(driver.Update, 2)
	foreign := driver.NewRecord("run-2", w.ID(), 3, []byte("value"))
	direct(t, d, "INSERT INTO "+d.table(tableLedger)+" ("+columns+") VALUES (?, ?, ?, ?, ?)", w.ID(), foreign.Writer,
		int64(foreign.Seq), int64(foreign.Checksum), []byte("value"))
	w.Write(driver.Update)
	w.Writes(driver.Update, 1)
	if _, back := w.WantFound("foreign"); back.Record.Writer != "run-2" {
		t.Errorf("got %+v", back)
	}
}
