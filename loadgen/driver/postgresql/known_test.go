package postgresql

import (
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func loaded(t *testing.T) (*Driver, drivertest.Stored) {
	t.Helper()
	d := opened(t, sharedServer(t), nil)
	load(t, d)
	table := d.table(tableLedger)
	exec := func(sql string, arguments ...any) {
		t.Helper()
		if _, err := d.pool.Exec(t.Context(), sql, arguments...); err != nil {
			t.Fatal(err)
		}
	}
	return d, drivertest.Stored{
		Driver: d, Writer: d.config.Writer,
		Remove: func(id string) { remove(t, d, tableLedger, id) },
		Keep: func(id string) func() {
			old := "old" + namespace(t)
			exec("DROP TABLE IF EXISTS " + old)
			exec("CREATE TABLE "+old+" AS SELECT * FROM "+table+" WHERE id = $1", id)
			return func() {
				exec("DELETE FROM "+table+" WHERE id = $1", id)
				exec("INSERT INTO " + table + " SELECT * FROM " + old)
			}
		},
	}
}

func TestLossesAreFound(t *testing.T) {
	drivertest.LossesAreFound(t, func(t *testing.T) drivertest.Stored {
		_, stored := loaded(t)
		return stored
	})
}

func TestARecordOfAnotherRunIsToldAndLeftAlone(t *testing.T) {
	d, itself := loaded(t)
	w := drivertest.NewWriter(t, itself, false)
	w.Writes(driver.Update, 2)
	foreign := driver.NewRecord("run-2", w.ID(), 3, []byte("value"))
	_, err := d.pool.Exec(t.Context(), "UPDATE "+d.table(tableLedger)+" SET writer = $2, seq = $3, checksum = $4 WHERE id = $1",
		w.ID(), foreign.Writer, int64(foreign.Seq), int64(foreign.Checksum))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(driver.Update)
	w.Writes(driver.Update, 1)
	if _, back := w.WantFound("foreign"); back.Record.Writer != "run-2" {
		t.Errorf("got %+v", back)
	}
}

func TestARecordOfTheDataSetThatAWriteFindsMissingIsMadeAnewAndTold(t *testing.T) {
	d := opened(t, sharedServer(t), nil)
	load(t, d)
	for _, kind := range []driver.Kind{driver.Update, driver.Operate} {
		op := driver.Op{Kind: kind, ID: driver.DataID(3), Value: []byte("value")}
		op.Record = driver.NewRecord(d.config.Writer, op.ID, 0, op.Value)
		if got := do(t, d, op); got.Class != driver.OK || got.Remade || got.Attempts != 1 {
			t.Errorf("there: %+v", got)
		}
		remove(t, d, tableData, op.ID)
		if got := do(t, d, op); got.Class != driver.OK || !got.Remade || got.Attempts != 1 {
			t.Errorf("missing: %+v", got)
		}
	}
}
