package mongodb

import (
	"strings"
	"sync"
	"testing"

	"brownout/loadgen/driver"
)

// inSteps loads the data set by two generators, step by step.
func inSteps(t *testing.T, begin, other *Driver, writer string) (progress [2]uint64) {
	t.Helper()
	step := func(d *Driver, index int, step driver.Step) {
		data := dataset(writer)
		data.Share, data.Step = driver.Share{Index: index, Of: 2}, step
		var mu sync.Mutex
		err := d.Load(t.Context(), data, func(n, _ uint64) {
			mu.Lock()
			defer mu.Unlock()
			progress[index] = max(progress[index], n)
		})
		if err != nil {
			t.Fatalf("step %d of generator %d: %v", step, index, err)
		}
	}
	step(begin, 0, driver.LoadBegin)
	step(other, 1, driver.LoadFill)
	step(begin, 0, driver.LoadFill)
	step(begin, 0, driver.LoadEnd)
	return progress
}

func TestTwoGeneratorsLoadOneDataSet(t *testing.T) {
	run := func(c *driver.Config) { c.Writer = "run-1" }
	begin := opened(t, sharedMongod(t), run)
	other := opened(t, sharedMongod(t), run)
	if err := begin.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := inSteps(t, begin, other, "run-1"); got != [2]uint64{1268, 1267} {
		t.Errorf("they wrote %v of 2535 items", got)
	}
	database := begin.streams[0].client.Database(begin.config.Namespace)
	mark, err := readMarker(t.Context(), database)
	if err != nil || mark.Data == nil || mark.Filling != nil {
		t.Errorf("the marker says %+v, %v", mark, err)
	}
	if got := inSteps(t, begin, other, "run-2"); got != [2]uint64{1268, 1267} {
		t.Errorf("progress of what was there is %v", got)
	}
	got := do(t, begin, driver.Op{Kind: driver.Read, ID: driver.DataID(2400)})
	if !got.Found || got.Record.Writer != "run-1" {
		t.Errorf("the plain data was written again: %+v", got.Record)
	}
}

func TestNobodyFillsWhatNobodyHasBegun(t *testing.T) {
	d := opened(t, sharedMongod(t), nil)
	if err := d.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	data := dataset("run-1")
	data.Step = driver.LoadFill
	if err := d.Load(t.Context(), data, func(uint64, uint64) {}); err == nil || !strings.Contains(err.Error(), "claimed by no load") {
		t.Errorf("got %v", err)
	}
}
