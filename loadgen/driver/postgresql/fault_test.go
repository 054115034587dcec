package postgresql

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// both returns an open driver of a primary and its replica; both have the driver's tables.
func both(t *testing.T, settings ...string) (primary, replica *server, d *Driver) {
	t.Helper()
	primary = ownServer(t, settings...)
	replica = primary.replica(t)
	d = opened(t, primary, func(c *driver.Config) { c.URI = uriOf(replica, primary) })
	if err := controlled(t, d).WriteMarker(t.Context(), &driver.Marker{MadeBy: "brownout", Schema: 1}); err != nil {
		t.Fatal(err)
	}
	primary.catchUp(t, replica)
	return primary, replica, d
}

func TestThePrimaryIsFoundAmongTheHostsAndAnotherOneAfterItsDeath(t *testing.T) {
	t.Parallel()
	primary, replica, d := both(t)
	op := update("v")
	if got := do(t, d, op); got.Class != driver.OK || d.Lane(&op) != primary.Address {
		t.Errorf("got %+v in lane %s", got, d.Lane(&op))
	}
	primary.die(t)
	drivertest.Until(t, "nothing is sent", func() bool {
		got := do(t, d, op)
		// A session that finds its server gone before it reads the next statement says 57P01.
		if got.Sent && got.Class != driver.InDoubt && got.Code != "57P01" {
			t.Errorf("sent to a server that died: %+v", got)
		}
		return !got.Sent && got.Class == driver.Failed && d.Lane(&op) == primary.Address
	})
	run(t, command(t, "pg_ctl", "promote", "--pgdata", replica.directory))
	if got := do(t, d, op); got.Class != driver.OK || d.Lane(&op) != replica.Address {
		t.Errorf("after the promotion: %+v in lane %s", got, d.Lane(&op))
	}
}

func TestWhatAHungPrimaryDoesNotAnswerIsInDoubt(t *testing.T) {
	t.Parallel()
	s := ownServer(t)
	d := claimed(t, s)
	op := update("v")
	do(t, d, op)
	s.signal(t, syscall.SIGSTOP, "")
	got := do(t, d, op)
	s.signal(t, syscall.SIGCONT, "")
	if got.Class != driver.InDoubt || got.Cause != driver.CauseReadTimeout || !got.Sent {
		t.Errorf("got %+v", got)
	}
	drivertest.Until(t, "it serves again", func() bool { return do(t, d, op).Class == driver.OK })
}

// locked is a write that waits for a lock, and is under way when it returns; unlock ends its wait.
func locked(ctx context.Context, t *testing.T, s *server, d *Driver) (result chan driver.Result, unlock func()) {
	t.Helper()
	holder, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holder.Close(t.Context()) })
	if _, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE "+d.table(driver.PlaceLedger)); err != nil {
		t.Fatal(err)
	}
	result = make(chan driver.Result, 1)
	go func() {
		op := update("locked")
		result <- d.Do(ctx, &op)
	}()
	const waiting = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
	drivertest.Until(t, "the write waits for the lock", func() (waits bool) {
		err := holder.QueryRow(t.Context(), waiting).Scan(&waits)
		return waits || err != nil || len(result) > 0
	})
	return result, func() {
		if _, err := holder.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	}
}

func TestALateAnswerCostsItsConnectionOnlyAfterTheGrace(t *testing.T) {
	s := ownServer(t)
	for grace, want := range map[int]struct {
		class  driver.Class
		opened int64
	}{0: {driver.InDoubt, 1}, 60_000: {driver.OK, 0}} {
		t.Run(fmt.Sprint(grace), func(t *testing.T) {
			d := opened(t, s, func(c *driver.Config) {
				c.Options = map[string]any{"answer_grace_ms": grace}
				c.Streams[1].DeadlineS = 60 // which is the server's own limit of a statement
			})
			if err := controlled(t, d).WriteMarker(t.Context(), &driver.Marker{MadeBy: "brownout", Schema: 1}); err != nil {
				t.Fatal(err)
			}
			do(t, d, update("v"))
			before := d.writes.Stat().NewConnsCount()
			ctx, deadline := context.WithCancel(t.Context())
			defer deadline()
			result, unlock := locked(ctx, t, s, d)
			deadline()
			if grace == 0 {
				got := <-result
				result <- got
			}
			unlock()
			if got := <-result; got.Class != want.class {
				t.Errorf("got %+v", got)
			}
			do(t, d, update("next"))
			if opened := d.writes.Stat().NewConnsCount() - before; opened != want.opened {
				t.Errorf("%d connections were opened, not %d", opened, want.opened)
			}
		})
	}
}

func TestAWriteInFlightToAServerThatDiesIsInDoubt(t *testing.T) {
	t.Parallel()
	s := ownServer(t)
	d := claimed(t, s)
	result, _ := locked(t.Context(), t, s, d)
	s.die(t)
	if got := <-result; got.Class != driver.InDoubt || got.Cause != driver.CauseConnectionReset {
		t.Errorf("got %+v", got)
	}
}

func TestAWriteThatTheServerEndsInOrderHasFailed(t *testing.T) {
	t.Parallel()
	s := ownServer(t)
	d := claimed(t, s)
	result, _ := locked(t.Context(), t, s, d)
	s.direct(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'brownout' AND wait_event_type = 'Lock'")
	if got := <-result; got.Class != driver.Failed || got.Code != "57P01" || !got.Retryable {
		t.Errorf("got %+v", got)
	}
}

func TestAWriteToAServerThatBecameReadOnlyHasFailedAndTheNextOneLooksForAnother(t *testing.T) {
	t.Parallel()
	s := ownServer(t)
	d := claimed(t, s)
	op := update("v")
	do(t, d, op)
	if _, err := d.writes.Exec(t.Context(), "SET default_transaction_read_only = on"); err != nil {
		t.Fatal(err)
	}
	if got := do(t, d, op); got.Class != driver.Failed || got.Cause != driver.CauseNotPrimary {
		t.Errorf("got %+v", got)
	}
	if got := do(t, d, op); got.Class != driver.OK {
		t.Errorf("over a new connection: %+v", got)
	}
}

func TestACommitThatDidNotWaitForItsReplicaIsInDoubt(t *testing.T) {
	t.Parallel()
	s := ownServer(t)
	d := claimed(t, s)
	s.synchronize(t, "missing")
	op := update("v")
	got := do(t, d, op)
	if got.Class != driver.InDoubt || got.Cause != driver.CauseReadTimeout {
		t.Errorf("without a replica: %+v", got)
	}
	result := make(chan driver.Result, 1)
	go func() { result <- do(t, d, op) }()
	for done := false; !done; {
		select {
		case got := <-result:
			if got.Class != driver.InDoubt || got.Code != "not replicated" {
				t.Errorf("told not to wait: %+v", got)
			}
			done = true
		case <-time.After(20 * time.Millisecond):
			s.direct(t, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'brownout'")
		}
	}
}

func TestAReplicaThatLagsAndIsPromotedLacksWhatWasAcknowledgedUnlessCommitsWaitForIt(t *testing.T) {
	t.Parallel()
	for name, synchronous := range map[string]bool{"asynchronous": false, "synchronous": true} {
		t.Run(name, func(t *testing.T) {
			primary, replica, d := both(t)
			first := update("first")
			if got := do(t, d, first); got.Class != driver.OK {
				t.Fatalf("got %+v", got)
			}
			primary.catchUp(t, replica)
			if synchronous {
				primary.synchronize(t, "*")
				drivertest.Until(t, "the replica is synchronous", func() bool { return do(t, d, first).Class == driver.OK })
			}
			primary.signal(t, syscall.SIGSTOP, "walsender")
			later := update("later")
			later.Record = driver.NewRecord("run-1", later.ID, 3, later.Value)
			got := do(t, d, later)
			if (got.Class == driver.OK) == synchronous {
				t.Errorf("a write that no replica has: %+v", got)
			}
			primary.die(t)
			run(t, command(t, "pg_ctl", "promote", "--pgdata", replica.directory))
			if seq := drivertest.ReadBack(t, d, false, later.ID)[later.ID].Record.Seq; seq != 2 {
				t.Errorf("the promoted replica has sequence %d", seq)
			}
		})
	}
}

func TestTwoServersThatAcceptWritesAreNotReadBack(t *testing.T) {
	t.Parallel()
	primary, replica, d := both(t)
	run(t, command(t, "pg_ctl", "promote", "--pgdata", replica.directory))
	err := d.ReadBack(t.Context(), true, []string{"x"}, false, func(driver.ReadBack) { t.Error("it read") })
	if err == nil {
		t.Fatal("it did")
	}
	for _, wanted := range []string{primary.Address, replica.Address, "both accept writes"} {
		if !strings.Contains(err.Error(), wanted) {
			t.Errorf("%q is not in: %v", wanted, err)
		}
	}
}
