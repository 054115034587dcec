package cassandra

import (
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

func TestAWriteWhoseReadingBackIsRefusedIsInDoubt(t *testing.T) {
	d := opened(t, sharedCluster(t), func(config *driver.Config) { // one node is never two replicas
		config.Options["consistency"], config.Options["read_consistency"] = "ONE", "TWO"
	})
	drivertest.LoadFew(t, d)
	op := drivertest.Update(0, "v")
	op.Kind = driver.Operate
	got := do(t, d, op)
	if got.Class != driver.InDoubt || got.Cause != driver.CauseQuorumUnavailable || !got.Sent || !got.Retryable {
		t.Errorf("got %+v", got)
	}
	back := drivertest.ReadBack(t, d, false, op.ID)[op.ID]
	if back.Record == nil || *back.Record != op.Record {
		t.Errorf("what it wrote is not there: %+v", back)
	}
}
