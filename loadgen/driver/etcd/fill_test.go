package etcd

import (
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// killed leaves a load of run-1 as a kill does that came after done items were kept.
func killed(t *testing.T, d *Driver, done uint64, there int) {
	t.Helper()
	load(t, d)
	c := controlled(t, d)
	beyond, end := d.keyOf(false, driver.DataID(uint64(there))), clientv3.GetPrefixRangeEnd(d.folder(folderData))
	if _, err := c.do(t.Context(), clientv3.OpDelete(beyond, clientv3.WithRange(end))); err != nil {
		t.Fatal(err)
	}
	mark, err := c.readMarker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mark.Filling, mark.Data = &filling{Shape: *mark.Data, Done: done}, nil
	putMarkerOf(t, d, mark)
}

func TestAFillThatWasKilledGoesOnWhereItStopped(t *testing.T) {
	killed(t, opened(t, sharedCluster(t), nil), 1000, 1700) // 700 more than is known are there
	d := opened(t, sharedCluster(t), func(c *driver.Config) { c.Writer = "run-2" })
	load(t, d)
	for key, writer := range map[uint64]string{0: "run-1", 999: "run-1", 1000: "run-2", 2499: "run-2"} {
		got := do(t, d, driver.Op{Kind: driver.Read, ID: driver.DataID(key)})
		if !got.Found || got.Record.Writer != writer {
			t.Errorf("key %d: %+v, wanted that of %s", key, got.Record, writer)
		}
	}
	if mark, err := markerOf(t, d); err != nil || mark.Data == nil || mark.Filling != nil {
		t.Errorf("the marker says %+v, %v", mark, err)
	}
}

func TestAFilledDataSetIsCountedAtTheDatabase(t *testing.T) {
	killed(t, opened(t, sharedCluster(t), nil), 2000, 1700) // fewer than is said
	d := opened(t, sharedCluster(t), nil)
	err := d.Load(t.Context(), drivertest.DatasetOf("run-2"), func(uint64, uint64) {})
	if err == nil || !strings.Contains(err.Error(), "holds 2200 records after it was filled (wanted 2500)") {
		t.Errorf("got %v", err)
	}
}
