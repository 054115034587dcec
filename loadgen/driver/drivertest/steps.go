package drivertest

import (
	"sync"
	"testing"

	"brownout/loadgen/driver"
)

// InSteps loads a data set by two generators, step by step, and returns how far each came.
func InSteps(t *testing.T, data driver.Dataset, begin, other driver.Driver) (progress [2]uint64) {
	t.Helper()
	step := func(d driver.Driver, index int, step driver.Step) {
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
