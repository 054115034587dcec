package mongodb

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"brownout/loadgen/driver"
)

func TestErrorsOfARealServerAreSorted(t *testing.T) {
	server := sharedMongod(t)
	code := func(n int, labels ...string) bson.D {
		return bson.D{{Key: "errorCode", Value: n}, {Key: "errorLabels", Value: labels}}
	}
	cases := map[string]struct {
		how   bson.D
		class driver.Class
		cause driver.Cause
		code  string
	}{
		"not primary":   {code(10107, "RetryableWriteError"), driver.Failed, driver.CauseNotPrimary, "10107 NotWritablePrimary"},
		"interrupted":   {code(11602, "RetryableWriteError"), driver.InDoubt, driver.CauseNotPrimary, "11602 InterruptedDueToReplStateChange"},
		"nothing done":  {code(91, "RetryableWriteError", "NoWritesPerformed"), driver.Failed, driver.CauseNotPrimary, "91 ShutdownInProgress"},
		"hung up":       {bson.D{{Key: "closeConnection", Value: true}}, driver.InDoubt, driver.CauseConnectionReset, "EOF"},
		"no answer":     {bson.D{{Key: "blockConnection", Value: true}, {Key: "blockTimeMS", Value: 1500}}, driver.InDoubt, driver.CauseReadTimeout, "DeadlineExceeded"},
		"not confirmed": {bson.D{{Key: "writeConcernError", Value: bson.D{{Key: "code", Value: 64}, {Key: "codeName", Value: "WriteConcernTimeout"}, {Key: "errmsg", Value: "waiting for replication timed out"}}}}, driver.InDoubt, driver.CauseQuorumUnavailable, "writeConcern 64 WriteConcernTimeout"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			d := opened(t, server, nil)
			server.fail(t, 1, "update", test.how)
			got := do(t, d, update("v"))
			if got.Class != test.class || got.Cause != test.cause || got.Code != test.code || !got.Sent {
				t.Errorf("got %+v, wanted %v %s %q", got, test.class, test.cause, test.code)
			}
		})
	}
}

func TestARecordThatIsMissingIsToldWhateverBecomesOfTheWriteThatMakesItAnew(t *testing.T) {
	server := sharedMongod(t)
	notConfirmed := bson.D{{Key: "writeConcernError", Value: bson.D{
		{Key: "code", Value: 64}, {Key: "codeName", Value: "WriteConcernTimeout"}, {Key: "errmsg", Value: "waiting"},
	}}}
	for kind, command := range map[driver.Kind]string{
		driver.Update: "update", driver.Increment: "update", driver.Operate: "findAndModify",
	} {
		t.Run(kind.String(), func(t *testing.T) {
			d := opened(t, server, nil)
			op := update("v")
			op.Kind, op.ID = kind, "remade-"+kind.String()
			op.Record = driver.NewRecord("run", op.ID, 0, op.Value)
			server.failing(t, bson.D{{Key: "skip", Value: 1}}, command, notConfirmed)
			got := do(t, d, op)
			if got.Class != driver.InDoubt || !got.Remade {
				t.Errorf("got %+v", got)
			}
			stored := do(t, d, driver.Op{Kind: driver.Read, Stream: op.Stream, ID: op.ID, Verified: op.Verified})
			if !stored.Found {
				t.Error("the write took effect")
			}
		})
	}
}

func TestOnlyTheDriverDefaultRetriesByItself(t *testing.T) {
	server := sharedMongod(t)
	steppedDown := bson.D{
		{Key: "errorCode", Value: 189}, {Key: "errorLabels", Value: bson.A{"RetryableWriteError"}},
	}
	for retries, want := range map[string]driver.Result{
		driver.RetriesNone:          {Class: driver.InDoubt, Cause: driver.CauseNotPrimary, Attempts: 1},
		driver.RetriesOnce:          {Class: driver.InDoubt, Cause: driver.CauseNotPrimary, Attempts: 1},
		driver.RetriesDriverDefault: {Class: driver.OK, Attempts: 2},
	} {
		t.Run(retries, func(t *testing.T) {
			d := opened(t, server, func(c *driver.Config) { c.Streams[1].Retries = retries })
			server.fail(t, 1, "update", steppedDown)
			got := do(t, d, update("v"))
			if got.Class != want.Class || got.Cause != want.Cause || got.Attempts != want.Attempts {
				t.Errorf("got %+v, wanted %+v", got, want)
			}
		})
	}
}

func TestALostServerLeavesTheWriteInFlightInDoubtAndNoLane(t *testing.T) {
	t.Parallel()
	server := ownMongod(t)
	server.initiate(t, opts())
	d := opened(t, server, func(c *driver.Config) { c.Streams[1].DeadlineS = 20 })
	write := update("v")
	do(t, d, write)
	if lane := d.Lane(&write); lane != server.Address {
		t.Errorf("the lane is %q, wanted %q", lane, server.Address)
	}
	server.fail(t, 1, "update", bson.D{{Key: "blockConnection", Value: true}, {Key: "blockTimeMS", Value: 20_000}})
	inFlight := make(chan driver.Result)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		inFlight <- d.Do(ctx, &write)
	}()
	server.waitUntilFailing(t)
	server.Kill()
	if got := <-inFlight; got.Class != driver.InDoubt || got.Cause != driver.CauseConnectionReset {
		t.Errorf("the write in flight: %+v", got)
	}
	for d.Lane(&write) != laneUnrouted {
		time.Sleep(time.Millisecond)
	}
	got := do(t, d, write)
	if got.Class != driver.Failed || got.Cause != driver.CauseNoNode || got.Sent {
		t.Errorf("without a server: %+v", got)
	}
}
