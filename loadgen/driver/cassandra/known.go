package cassandra

import (
	"context"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

// codeUnchecked is the code of a write that may have found something else than it wanted.
const codeUnchecked = "not checked"

// writeKnown writes only where what is known to be stored is stored. A key has one writer, so it is
// enough to read before the write, and the write can be the plain one that users do. (A lightweight
// transaction would go through Paxos, whatever the consistency.)
//
//	read              as known     ──▶ write, newer than every earlier write of the key
//	                  not as known ──▶ read from every replica
//	from every one    as known     ──▶ write: the first read was of a replica that is behind
//	                  not as known ──▶ refused: what was acknowledged is gone
//	                  no answer    ──▶ failed, and nothing is written
func (c *call) writeKnown(ctx context.Context) driver.Result {
	stored, sure, err := c.lookBefore(ctx)
	if err != nil {
		return c.notWritten(err)
	}
	if !sure && !c.op.Known.Fits(stored) {
		if stored, err = c.stored(ctx, gocql.All); err != nil {
			result := c.notWritten(err)
			result.Code = codeUnchecked
			return result
		}
	}
	if !c.op.Known.Fits(stored) {
		return driver.Refused(c.op, stored)
	}
	tells := !c.op.Known.Sure() && !c.op.Known.Create
	var result driver.Result
	var before int64
	if c.op.Kind == driver.Increment {
		before, tells = stored.Value, tells && sure
		result = c.count(ctx)
		result.Value = before + 1
	} else {
		if tells {
			before = int64(stored.Record.Seq)
		}
		result = c.write(ctx)
	}
	if result.Class == driver.OK && tells {
		result.Before = &before
	}
	return result
}

// lookBefore reads what the write will follow. Where a count is in doubt it asks every replica, for
// half of the time that is left: one of them alone may have it, and pass it on later, which no other
// count covers up. sure tells that every replica answered.
func (c *call) lookBefore(ctx context.Context) (stored *driver.ReadBack, sure bool, err error) {
	if c.op.Kind == driver.Increment && !c.op.Known.Sure() {
		half, cancel := ctx, context.CancelFunc(func() {})
		if until, limited := ctx.Deadline(); limited {
			half, cancel = context.WithTimeout(ctx, time.Until(until)/2)
		}
		stored, err = c.stored(half, gocql.All)
		cancel()
		if err == nil {
			return stored, true, nil
		}
	}
	stored, err = c.stored(ctx, c.reading())
	return stored, false, err
}

// stored reads what a condition is held against.
func (c *call) stored(ctx context.Context, level gocql.Consistency) (*driver.ReadBack, error) {
	f, err := c.look(ctx, level)
	back := readBack(c.op.ID, f, c.op.Kind == driver.Increment)
	return c.op.Look(&back), err
}

// notWritten is a write that ended with the read before it.
func (c *call) notWritten(err error) driver.Result {
	result := classify(err, driver.Read, c.seen)
	result.Code = "read first: " + result.Code
	return result
}
