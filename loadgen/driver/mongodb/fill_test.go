package mongodb

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// killed leaves a load of run-1 as a kill does that came after done items were kept.
func killed(t *testing.T, d *Driver, done int64, there int) {
	t.Helper()
	load(t, d)
	database := d.streams[0].client.Database(d.config.Namespace)
	beyond := bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: driver.DataID(uint64(there))}}}}
	if _, err := database.Collection(collectionData).DeleteMany(t.Context(), beyond); err != nil {
		t.Fatal(err)
	}
	mark, err := readMarker(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	mark.Filling, mark.Data = &filling{Shape: *mark.Data, Done: done}, nil
	if err := d.putMarker(t.Context(), database, mark); err != nil {
		t.Fatal(err)
	}
}

func TestAFillThatWasKilledGoesOnWhereItStopped(t *testing.T) {
	killed(t, opened(t, sharedMongod(t), nil), 1000, 1700) // 700 more than is known are there
	d := opened(t, sharedMongod(t), func(c *driver.Config) { c.Writer = "run-2" })
	load(t, d)
	for key, writer := range map[uint64]string{0: "run-1", 1699: "run-1", 1700: "run-2", 2499: "run-2"} {
		got := do(t, d, driver.Op{Kind: driver.Read, ID: driver.DataID(key)})
		if !got.Found || got.Record.Writer != writer {
			t.Errorf("key %d: %+v, wanted that of %s", key, got.Record, writer)
		}
	}
	database := d.streams[0].client.Database(d.config.Namespace)
	if mark, err := readMarker(t.Context(), database); err != nil || mark.Data == nil || mark.Filling != nil {
		t.Errorf("the marker says %+v, %v", mark, err)
	}
}

func TestAFilledDataSetIsCountedAtTheDatabase(t *testing.T) {
	killed(t, opened(t, sharedMongod(t), nil), 2000, 1700) // fewer than is said
	d := opened(t, sharedMongod(t), nil)
	err := d.Load(t.Context(), drivertest.DatasetOf("run-2"), func(uint64, uint64) {})
	if err == nil || !strings.Contains(err.Error(), "holds 2200 records after it was filled (wanted 2500)") {
		t.Errorf("got %v", err)
	}
}
