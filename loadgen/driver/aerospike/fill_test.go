package aerospike

import (
	"strings"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// killed leaves a load of run-1 as a kill does that came after done items were
// kept; the key that is gone was not written yet.
func killed(t *testing.T, d *Driver, done int, gone uint64) {
	t.Helper()
	load(t, d)
	c, err := d.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Delete(nil, c.key(c.sets.data, driver.DataID(gone))); err != nil {
		t.Fatal(err)
	}
	mark, readErr := c.readMarker()
	if readErr != nil {
		t.Fatal(readErr)
	}
	mark.Filling, mark.Data = &filling{Shape: *mark.Data, Done: done}, nil
	if err := c.putMarker(mark, "run-1"); err != nil {
		t.Fatal(err)
	}
}

func TestAFillThatWasKilledGoesOnWhereItStopped(t *testing.T) {
	done := drivertest.Keys / 2
	killed(t, opened(t, sharedCluster(t), nil), int(done), done)
	d := opened(t, sharedCluster(t), func(c *driver.Config) { c.Writer = "run-2" })
	load(t, d)
	for key, writer := range map[uint64]string{0: "run-1", done - 1: "run-1", done: "run-2"} {
		got := do(t, d, driver.Op{Kind: driver.Read, ID: driver.DataID(key)})
		if !got.Found || got.Record.Writer != writer {
			t.Errorf("key %d: %+v, wanted that of %s", key, got.Record, writer)
		}
	}
}

func TestEveryKeyOfAFilledDataSetIsLookedFor(t *testing.T) {
	done := drivertest.Keys / 2
	killed(t, opened(t, sharedCluster(t), nil), int(done), 3)
	d := opened(t, sharedCluster(t), nil)
	err := d.Load(t.Context(), drivertest.DatasetOf("run-2"), func(uint64, uint64) {})
	if err == nil || !strings.Contains(err.Error(), "lacks records after it was filled") {
		t.Errorf("got %v", err)
	}
}
