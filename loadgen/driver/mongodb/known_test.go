package mongodb

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// verified is what is stored of a verified key.
type verified struct {
	*testing.T
	*Driver
}

func (v verified) get(id string) bson.D {
	v.Helper()
	var stored bson.D
	if err := v.streams[1].ledger.FindOne(v.Context(), byID(id)).Decode(&stored); err != nil {
		v.Fatal(err)
	}
	return stored
}

func (v verified) remove(id string) {
	v.Helper()
	if gone, err := v.streams[1].ledger.DeleteOne(v.Context(), byID(id)); err != nil || gone.DeletedCount != 1 {
		v.Fatal(err)
	}
}

func (v verified) put(id string, document bson.D) {
	v.Helper()
	v.remove(id)
	if _, err := v.streams[1].ledger.InsertOne(v.Context(), document); err != nil {
		v.Fatal(err)
	}
}

func loaded(t *testing.T) (verified, drivertest.Stored) {
	t.Helper()
	d := opened(t, sharedMongod(t), nil)
	load(t, d)
	v := verified{t, d}
	return v, drivertest.Stored{
		Driver: d, Writer: d.config.Writer, Remove: v.remove,
		Keep: func(id string) func() {
			old := v.get(id)
			return func() { v.put(id, old) }
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
	v, itself := loaded(t)
	w := drivertest.NewWriter(t, itself, false)
	w.Writes(driver.Update, 2)
	foreign := v.get(w.ID())
	foreign[1].Value = "run-2"
	v.put(w.ID(), foreign)
	w.Write(driver.Update)
	w.Writes(driver.Update, 1)
	// Its checksum is over the writer too.
	if _, back := w.WantFound("corrupt"); back.Record.Writer != "run-2" {
		t.Errorf("got %+v", back)
	}
}

func TestARecordOfTheDataSetThatAWriteFindsMissingIsMadeAnewAndTold(t *testing.T) {
	d := opened(t, sharedMongod(t), nil)
	load(t, d)
	for _, kind := range []driver.Kind{driver.Update, driver.Operate} {
		op := driver.Op{Kind: kind, ID: driver.DataID(3), Value: []byte("value")}
		op.Record = driver.NewRecord(d.config.Writer, op.ID, 0, op.Value)
		if got := do(t, d, op); got.Class != driver.OK || got.Remade || got.Attempts != 1 {
			t.Errorf("there: %+v", got)
		}
		if _, err := d.streams[0].data.DeleteOne(t.Context(), byID(op.ID)); err != nil {
			t.Fatal(err)
		}
		if got := do(t, d, op); got.Class != driver.OK || !got.Remade || got.Attempts != 1 {
			t.Errorf("missing: %+v", got)
		}
	}
}
