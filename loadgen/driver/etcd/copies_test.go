package etcd

import (
	"testing"

	"brownout/loadgen/driver/drivertest"
)

func TestEachMemberTellsItsOwnCopy(t *testing.T) {
	c := ownCluster(t, 3)
	drivertest.CopiesAreRead(t, opened(t, c, nil), 3, 3, nil)
}
