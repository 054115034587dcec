package etcd

import (
	"strings"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestTwoGeneratorsLoadOneDataSet(t *testing.T) {
	run := func(c *driver.Config) { c.Writer = "run-1" }
	begin := opened(t, sharedCluster(t), run)
	other := opened(t, sharedCluster(t), run)
	if err := begin.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := drivertest.InSteps(t, dataset("run-1"), begin, other); got != [2]uint64{1268, 1267} {
		t.Errorf("they wrote %v of 2535 items", got)
	}
	mark, err := markerOf(t, begin)
	if err != nil || mark.Data == nil || mark.Filling != nil {
		t.Errorf("the marker says %+v, %v", mark, err)
	}
	if got := drivertest.InSteps(t, dataset("run-2"), begin, other); got != [2]uint64{1268, 1267} {
		t.Errorf("progress of what was there is %v", got)
	}
	got := do(t, begin, driver.Op{Kind: driver.Read, ID: driver.DataID(2400)})
	if !got.Found || got.Record.Writer != "run-1" {
		t.Errorf("the plain data was written again: %+v", got.Record)
	}
}

func TestNobodyFillsWhatNobodyHasBegun(t *testing.T) {
	d := opened(t, sharedCluster(t), nil)
	if err := d.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	data := dataset("run-1")
	data.Step = driver.LoadFill
	if err := d.Load(t.Context(), data, func(uint64, uint64) {}); err == nil || !strings.Contains(err.Error(), "claimed by no load") {
		t.Errorf("got %v", err)
	}
}
