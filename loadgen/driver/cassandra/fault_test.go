package cassandra

import (
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// ownedBy is a write to a ledger key whose token a node owns.
func ownedBy(t *testing.T, d *Driver, s *drivertest.Server) driver.Op {
	t.Helper()
	for key := range uint64(30) {
		op := drivertest.Update(key, "v")
		if d.Lane(&op) == "owner "+s.Address {
			return op
		}
	}
	t.Fatalf("no key is owned by %s: %v", s.Address, d.ring)
	return driver.Op{}
}

func TestWhatANodeThatIsAwayDoesToWrites(t *testing.T) {
	c := ownCluster(t, 3, "write_request_timeout: 1000ms\n")
	c.await(t, nil)
	var d *Driver
	until(t, "every node knows the others", func() bool {
		d = opened(t, c, nil)
		return len(d.session.GetHosts()) == 3
	})
	drivertest.LoadFew(t, d)
	all := opened(t, c, func(config *driver.Config) { config.Options["consistency"] = "ALL" })
	hung, last := c.servers[2], c.servers[0]
	for _, s := range c.servers { // statements are prepared by now
		for _, with := range []*Driver{d, all} {
			until(t, "it is served", func() bool { return do(t, with, ownedBy(t, with, s)).Class == driver.OK })
		}
	}

	t.Run("a node that hangs", func(t *testing.T) {
		hung.Pause(t)
		got := drivertest.Do(t, d, ownedBy(t, d, hung))
		if got.Class != driver.InDoubt || got.Cause != driver.CauseReadTimeout || !got.Sent || got.Attempts != 1 {
			t.Errorf("a write that it coordinates: %+v", got)
		}
		if got := do(t, d, ownedBy(t, d, last)); got.Class != driver.OK {
			t.Errorf("a write that another one coordinates, QUORUM: %+v", got)
		}
		got = do(t, all, ownedBy(t, all, last))
		if got.Class == driver.OK || (got.Class == driver.Failed && got.Cause != driver.CauseQuorumUnavailable) {
			t.Errorf("the same, ALL: %+v", got)
		}
		hung.Resume(t)
		until(t, "it serves again", func() bool { return do(t, all, ownedBy(t, all, hung)).Class == driver.OK })
	})
	t.Run("a node that is gone", func(t *testing.T) {
		hung.Kill()
		until(t, "the next replica is asked", func() bool { return do(t, d, ownedBy(t, d, hung)).Class == driver.OK })
		known := ownedBy(t, d, last)
		known.Known = &driver.Known{First: 2, Last: 2}
		known.Record = driver.NewRecord(drivertest.RunID, known.ID, 3, known.Value)
		if got := do(t, d, known); got.Class != driver.OK {
			t.Errorf("a write after what is known: %+v", got)
		}
	})
	t.Run("no quorum", func(t *testing.T) {
		c.servers[1].Kill()
		var got driver.Result
		t.Cleanup(func() { t.Logf("at last it was %+v", got) })
		until(t, "it is refused before it is tried", func() bool {
			got = do(t, d, ownedBy(t, d, last))
			if got.Class == driver.OK {
				t.Errorf("one of three made a quorum: %+v", got)
			}
			return got.Class == driver.Failed && got.Cause == driver.CauseQuorumUnavailable && got.Code == "unavailable"
		})
		one := opened(t, &cluster{servers: c.servers[:1]}, func(config *driver.Config) {
			config.Options = map[string]any{"consistency": "ONE"}
			config.Namespace = d.config.Namespace
		})
		if got := do(t, one, ownedBy(t, d, last)); got.Class != driver.OK {
			t.Errorf("ONE: %+v", got)
		}
		unsure := ownedBy(t, d, last)
		unsure.Known = &driver.Known{First: 7, Last: 7}
		got = do(t, one, unsure)
		if got.Class != driver.Failed || got.Refused || got.Code != codeUnchecked {
			t.Errorf("a write after something else than was found, with no replica to ask besides: %+v", got)
		}
	})
	t.Run("no node", func(t *testing.T) {
		last.Kill()
		until(t, "there is no connection", func() bool {
			got := do(t, d, ownedBy(t, d, last))
			return got.Class == driver.Failed && got.Cause == driver.CauseNoNode && !got.Sent
		})
	})
}
