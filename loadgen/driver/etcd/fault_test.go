package etcd

import (
	"slices"
	"strings"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// lanes are those of the next operations.
func lanes(d *Driver) map[string]bool {
	found := map[string]bool{}
	for range 2 * len(d.members) {
		op := update("v")
		found[d.Lane(&op)] = true
	}
	return found
}

// to is a write that one member is asked for.
func to(d *Driver, s *drivertest.Server) driver.Op {
	op := update("v")
	for _, m := range d.members {
		if m.address == s.Address {
			op.Prepared = m
		}
	}
	return op
}

func allReady(t *testing.T, d *Driver) {
	t.Helper()
	drivertest.Until(t, "every member is connected", func() bool { return len(lanes(d)) == len(d.members) })
}

func TestMembersAreAskedInTurnAndADeadOneIsNot(t *testing.T) {
	t.Parallel()
	c := ownCluster(t, 3)
	leader, _ := c.leader(t)
	d := opened(t, c, nil)
	allReady(t, d)
	leader.Kill()
	drivertest.Until(t, "the dead member is left out", func() bool { return !lanes(d)[leader.Address] })
	got := lanes(d)
	for _, s := range c.servers {
		if s != leader && !got[s.Address] {
			t.Errorf("%s is not among the lanes %v", s.Address, got)
		}
	}
	drivertest.Until(t, "the others have elected one", func() bool { return do(t, d, update("v")).Class == driver.OK })
	if got := do(t, d, to(d, leader)); got.Class != driver.OK || got.Attempts != 1 {
		t.Errorf("a write whose member is gone is not done by another one: %+v", got)
	}
	leader.Start(t)
	allReady(t, d)
}

func TestAWriteToAMemberThatHangsIsInDoubt(t *testing.T) {
	t.Parallel()
	c := ownCluster(t, 3)
	_, follower := c.leader(t)
	d := opened(t, c, nil)
	allReady(t, d)
	follower.Pause(t)
	defer follower.Resume(t)
	got := do(t, d, to(d, follower))
	if got.Class != driver.InDoubt || got.Cause != driver.CauseReadTimeout || !got.Sent || got.Attempts != 1 {
		t.Errorf("got %+v", got)
	}
	if !lanes(d)[follower.Address] { // as with the client's own balancer
		t.Error("a member that hangs, and keeps its connection, is not asked any more")
	}
}

func TestAWriteInFlightToAMemberThatDiesIsInDoubt(t *testing.T) {
	t.Parallel()
	c := ownCluster(t, 3)
	_, follower := c.leader(t)
	d := opened(t, c, nil)
	allReady(t, d)
	follower.Pause(t)
	result := make(chan driver.Result)
	const size = 4096
	op := update(strings.Repeat("v", size))
	op.Prepared = to(d, follower).Prepared
	go func() { result <- drivertest.DoPatiently(t, d, op) }()
	drivertest.Until(t, "the write is in flight", func() bool {
		select {
		case got := <-result:
			t.Fatalf("it ended before the member did: %+v", got)
		default:
		}
		unread := follower.Unread(t)
		return len(unread) > 0 && slices.Max(unread) >= size
	})
	follower.Kill()
	if got := <-result; !got.Sent || got.Class != driver.InDoubt || got.Cause != driver.CauseConnectionReset {
		t.Errorf("got %+v", got)
	}
}

func TestWithoutAQuorumAWriteIsInDoubtUnlessTheMemberRefusesIt(t *testing.T) {
	t.Parallel()
	c := ownCluster(t, 3)
	leader, follower := c.leader(t)
	waits := opened(t, c, nil)
	refuses := opened(t, c, func(config *driver.Config) {
		config.Options = map[string]any{"require_leader": true}
		config.Streams = append(config.Streams, driver.StreamConfig{
			Name: "retrying", DeadlineS: 1, Retries: driver.RetriesDriverDefault,
		})
	})
	for _, s := range c.servers {
		if s != follower {
			s.Kill()
		}
	}
	direct := c.direct(t, follower)
	drivertest.Until(t, "the last member knows no leader", func() bool {
		said, err := direct.Status(t.Context(), follower.Address)
		return err == nil && said.Leader == 0
	})
	got := do(t, waits, to(waits, follower))
	if got.Class != driver.InDoubt || !got.Sent {
		t.Errorf("without a leader: %+v", got)
	}
	got = do(t, refuses, to(refuses, follower))
	if got.Class != driver.Failed || got.Cause != driver.CauseQuorumUnavailable || got.Code != "no leader" {
		t.Errorf("a leader is required: %+v", got)
	}
	read := driver.Op{Kind: driver.Read, ID: "x"}
	if got := do(t, refuses, read); got.Attempts != 1 || got.Class != driver.Failed {
		t.Errorf("a read without retries: %+v", got)
	}
	read.Stream = 2
	if got := do(t, refuses, read); got.Attempts < 2 || got.Class != driver.Failed {
		t.Errorf("a read that the client repeats: %+v", got)
	}
	if lane := refuses.Lane(&read); lane != laneMembers {
		t.Errorf("its lane is %q", lane)
	}
	follower.Kill()
	drivertest.Until(t, "no server is connected", func() bool { return lanes(waits)[laneUnrouted] && len(lanes(waits)) == 1 })
	drivertest.Until(t, "it is known why", func() bool {
		got := do(t, waits, to(waits, leader))
		return got.Class == driver.Failed && got.Cause == driver.CauseConnectRefused && !got.Sent
	})
}
