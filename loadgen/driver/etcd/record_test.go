package etcd

import (
	"testing"

	"brownout/loadgen/driver"
)

func TestValuesOfOneWriterLieInTheOrderOfTheirSequences(t *testing.T) {
	before := ""
	for _, seq := range []uint64{0, 1, 2, 255, 256, 1 << 40} {
		value := stored(driver.NewRecord("run-1", "id", seq, []byte("v")), []byte("v"))
		if value <= before || value <= string(ordered("run-1", seq)) || value >= string(ordered("run-1", seq+1)) {
			t.Errorf("sequence %d is out of order", seq)
		}
		before = value
	}
	for _, pair := range [][2]int64{{-2, -1}, {-1, 0}, {0, 1}, {255, 256}} {
		if count(pair[0]) >= count(pair[1]) {
			t.Errorf("%v are out of order", pair)
		}
		if f := takeApart("id", []byte(count(pair[0]))); !f.Counter || f.Count != pair[0] {
			t.Errorf("%d came back as %+v", pair[0], f)
		}
	}
}
