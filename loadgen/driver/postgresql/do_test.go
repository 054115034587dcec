package postgresql

import (
	"testing"

	"brownout/loadgen/driver"
)

func TestAnIncrementOfWhatIsNoCounterIsAnIntegrityFailure(t *testing.T) {
	d := claimed(t, sharedServer(t))
	written := update("v")
	do(t, d, written)
	got := do(t, d, driver.Op{Kind: driver.Increment, ID: written.ID, Verified: true})
	if got.Class != driver.Failed || got.Cause != driver.CauseIntegrity {
		t.Errorf("got %+v", got)
	}
}
