package aerospike

import (
	"context"
	"sync"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// on returns updates of keys whose partitions a node owns, by the client's map.
func on(d *Driver, n *node, wanted int) []driver.Op {
	var ops []driver.Op
	for key := uint64(0); len(ops) < wanted && key < 100_000; key++ {
		op := update(key, "v")
		if d.Lane(&op) == n.Address {
			op.Prepared = nil // good for one Do, and these operations are done several times
			ops = append(ops, op)
		}
	}
	return ops
}

// together does operations at the same time, each with a deadline of so long.
func together(t *testing.T, d *Driver, limit time.Duration, ops []driver.Op) []driver.Result {
	t.Helper()
	results := make([]driver.Result, len(ops))
	var group sync.WaitGroup
	for i := range ops {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			results[i] = d.Do(ctx, &ops[i])
		})
	}
	group.Wait()
	return results
}

func reads(ops []driver.Op) []driver.Op {
	var found []driver.Op
	for _, op := range ops {
		found = append(found, read(op))
	}
	return found
}

func TestOnAHungNodeWritesAreInDoubtAndReadsAreNot(t *testing.T) {
	c := ownCluster(t, 3)
	d := opened(t, c, func(c *driver.Config) {
		// The map stays as it is, and a read without a connection does not go elsewhere.
		c.Options = map[string]any{"tend_interval_ms": 60_000, "replica": "master"}
	})
	ops := on(d, c.nodes[0], 8)
	for _, op := range ops {
		if got := do(t, d, op); got.Class != driver.OK {
			t.Fatalf("before: %+v", got)
		}
	}
	together(t, d, 5*time.Second, ops) // opens a connection for each
	c.nodes[0].Pause(t)
	defer c.nodes[0].Resume(t)
	for _, got := range together(t, d, 300*time.Millisecond, ops[:4]) {
		if got.Class != driver.InDoubt || got.Cause != driver.CauseReadTimeout || !got.Sent || !got.Retryable {
			t.Errorf("a write: %+v", got)
		}
	}
	batch := driver.Op{Kind: driver.Batch, Stream: 1, IDs: []string{ops[4].ID, ops[5].ID}, Verified: true}
	for _, got := range together(t, d, 300*time.Millisecond, append(reads(ops[4:]), batch)) {
		if got.Class != driver.Failed || got.Cause != driver.CauseReadTimeout || !got.Sent {
			t.Errorf("a read: %+v", got)
		}
	}
}

func TestASecondAttemptFollowsAHangOnlyIfOneAttemptIsShorterThanTheDeadline(t *testing.T) {
	c := ownCluster(t, 3)
	for name, test := range map[string]struct {
		options  map[string]any
		deadline time.Duration
		wanted   driver.Class
	}{
		"what is left of the deadline": {map[string]any{"tend_interval_ms": 60_000}, time.Second, driver.Failed},
		"a part of it": {
			map[string]any{"tend_interval_ms": 60_000, "socket_timeout_ms": 3000}, 10 * time.Second, driver.OK,
		},
	} {
		d := opened(t, c, func(c *driver.Config) {
			c.Options, c.Streams[1].Retries = test.options, driver.RetriesDriverDefault
		})
		ops := on(d, c.nodes[0], 1)
		do(t, d, ops[0])
		if got := do(t, d, read(ops[0])); got.Class != driver.OK {
			t.Fatalf("%s: before: %+v", name, got)
		}
		c.nodes[0].Pause(t)
		if got := together(t, d, test.deadline, reads(ops))[0]; got.Class != test.wanted {
			t.Errorf("%s: %+v", name, got)
		}
		c.nodes[0].Resume(t)
		c.whole(t, 3)
	}
}

func TestAKilledNodeBreaksItsConnectionsThenIsNotReached(t *testing.T) {
	c := ownCluster(t, 3)
	d := opened(t, c, func(c *driver.Config) { c.Options = map[string]any{"tend_interval_ms": 60_000} })
	ops := on(d, c.nodes[0], 4)
	together(t, d, 5*time.Second, ops)
	c.nodes[0].Pause(t)
	done := make(chan []driver.Result)
	go func() { done <- together(t, d, 5*time.Second, ops) }()
	drivertest.Until(t, "the writes wait for an answer", func() bool { return len(c.nodes[0].Unread(t)) >= len(ops) })
	c.nodes[0].Kill()
	for _, got := range <-done {
		if got.Class != driver.InDoubt || got.Cause != driver.CauseConnectionReset || got.Code != "-18 NETWORK_ERROR" {
			t.Errorf("under way: %+v", got)
		}
	}
	drivertest.Until(t, "no broken connection is left in the pool", func() bool {
		return !together(t, d, 50*time.Millisecond, ops[:1])[0].Sent
	})
	for _, got := range together(t, d, 300*time.Millisecond, ops) {
		if got.Class != driver.Failed || got.Cause != driver.CauseConnectTimeout || got.Sent || !got.Retryable {
			t.Errorf("afterwards: %+v", got)
		}
	}
}

func TestTheCircuitBreakerIsACauseOfItsOwn(t *testing.T) {
	c := ownCluster(t, 3)
	d := opened(t, c, func(c *driver.Config) {
		c.Options = map[string]any{"tend_interval_ms": 60_000, "max_error_rate": 1}
	})
	ops := on(d, c.nodes[0], 6)
	together(t, d, 5*time.Second, ops)
	c.nodes[0].Pause(t)
	defer c.nodes[0].Resume(t)
	together(t, d, 200*time.Millisecond, ops)
	got := do(t, d, ops[0])
	if got.Class != driver.Failed || got.Cause != driver.CauseCircuitBreaker || got.Code != "-15 MAX_ERROR_RATE" || got.Sent {
		t.Errorf("a write: %+v", got)
	}
}

func TestAFullPoolIsToldFromOneThatCannotConnect(t *testing.T) {
	c := ownCluster(t, 3)
	d := opened(t, c, func(c *driver.Config) {
		c.Options = map[string]any{"tend_interval_ms": 60_000, "pool_size": 1}
	})
	ops := on(d, c.nodes[0], 3)
	do(t, d, ops[0])
	c.nodes[0].Pause(t)
	defer c.nodes[0].Resume(t)
	causes := map[driver.Cause]int{}
	for _, got := range together(t, d, 300*time.Millisecond, ops) {
		causes[got.Cause]++
	}
	if causes[driver.CauseReadTimeout] != 2 || causes[driver.CausePoolExhausted] != 1 { // one for reads
		t.Errorf("got %v", causes)
	}
}

func TestLanesAreTheOwnersOfThePartitions(t *testing.T) {
	c := ownCluster(t, 3)
	d := opened(t, c, nil)
	batch := driver.Op{Kind: driver.Batch, Stream: 1, Verified: true}
	for key := range uint64(30) {
		batch.IDs = append(batch.IDs, update(key, "").ID)
	}
	if got := do(t, d, batch); got.Class != driver.OK || got.Found {
		t.Errorf("a batch before there is any connection: %+v", got)
	}
	if lane := d.Lane(&batch); lane != laneNodes {
		t.Errorf("that of a batch is %q", lane)
	}
	lanes := map[string]int{}
	for key := range uint64(3000) {
		op := update(key, "v")
		lane := d.Lane(&op)
		lanes[lane]++
		if key%500 == 0 {
			lookup := read(op)
			if again := d.Lane(&lookup); again != lane {
				t.Errorf("a read of key %d has the lane %s, its write %s", key, again, lane)
			}
		}
	}
	for _, n := range c.nodes {
		if lanes[n.Address] < 800 {
			t.Errorf("node %s has %d of 3000 keys: %v", n.Address, lanes[n.Address], lanes)
		}
	}
	c.nodes[0].Kill()
	op := on(d, c.nodes[1], 1)[0]
	drivertest.Until(t, "the lanes are those of the other two", func() bool { return len(on(d, c.nodes[0], 1)) == 0 })
	if got := do(t, d, op); got.Class != driver.OK {
		t.Errorf("got %+v", got)
	}
}

func TestAnAnswerOfEveryKindHasACause(t *testing.T) {
	for code, v := range codes {
		if !v.cause.Known() {
			t.Errorf("%d has the cause %q", code, v.cause)
		}
	}
	if got := meaning(1234); got.cause != driver.CauseOther || codeText(1234) != "1234" {
		t.Errorf("an unknown code: %+v, %q", got, codeText(1234))
	}
}

// The client answers -3 at once for the first key that it asks of the node that is gone.
func TestTheLedgerIsReadWholeRightAfterANodeIsLost(t *testing.T) {
	c := ownCluster(t, 3)
	d := opened(t, c, nil)
	var ids []string
	for _, op := range on(d, c.nodes[0], 100) {
		if got := do(t, d, op); got.Class != driver.OK {
			t.Fatalf("before: %+v", got)
		}
		ids = append(ids, op.ID)
	}
	c.nodes[0].Kill()
	c.nodes[0].Start(t)
	for id, back := range drivertest.ReadBack(t, d, false, ids...) {
		if back.Err != nil || back.Record == nil {
			t.Errorf("%s: %+v", id, back)
		}
	}
}
