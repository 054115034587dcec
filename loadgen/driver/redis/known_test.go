package redis

import (
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func loaded(t *testing.T, client string) (*Driver, drivertest.Stored) {
	t.Helper()
	d := opened(t, sharedCluster(t), with(client))
	load(t, d)
	key := func(id string) string { return d.keyOf(true, id) }
	return d, drivertest.Stored{
		Driver: d, Writer: d.config.Writer,
		Remove: func(id string) { remove(t, d, key(id)) },
		Keep: func(id string) func() {
			old := get(t, d, key(id))
			return func() { put(t, d, key(id), old) }
		},
	}
}

func TestLossesAreFound(t *testing.T) {
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			drivertest.LossesAreFound(t, func(t *testing.T) drivertest.Stored {
				_, stored := loaded(t, client)
				return stored
			})
		})
	}
}

func TestARecordOfAnotherRunIsToldAndLeftAlone(t *testing.T) {
	d, itself := loaded(t, valkeyGo)
	w := drivertest.NewWriter(t, itself, false)
	w.Writes(driver.Update, 2)
	foreign := driver.NewRecord("run-2", w.ID(), 3, []byte("value"))
	put(t, d, d.keyOf(true, w.ID()), stored(foreign, []byte("value")))
	w.Write(driver.Update)
	w.Writes(driver.Update, 1)
	if _, back := w.WantFound("foreign"); back.Record.Writer != "run-2" {
		t.Errorf("got %+v", back)
	}
}

func TestARecordOfTheDataSetThatAWriteFindsMissingIsMadeAnewAndTold(t *testing.T) {
	d, _ := loaded(t, valkeyGo)
	for _, kind := range []driver.Kind{driver.Update, driver.Operate} {
		op := driver.Op{Kind: kind, ID: driver.DataID(3), Value: []byte("value")}
		op.Record = driver.NewRecord(d.config.Writer, op.ID, 0, op.Value)
		if got := do(t, d, op); got.Class != driver.OK || got.Remade || got.Attempts != 1 {
			t.Errorf("there: %+v", got)
		}
		remove(t, d, d.keyOf(false, op.ID))
		if got := do(t, d, op); got.Class != driver.OK || !got.Remade || got.Attempts != 1 {
			t.Errorf("missing: %+v", got)
		}
	}
}
