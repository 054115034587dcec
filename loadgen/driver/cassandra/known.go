package cassandra

import (
	"context"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

// codeNoMatch is the code of a write that found something else than it wanted, codeUnchecked of one
// that could not be sure of that.
const (
	codeNoMatch   = "no match"
	codeUnchecked = "not checked"
)

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
	f, sure, err := c.lookBefore(ctx)
	if err != nil {
		return c.notWritten(err)
	}
	if !c.asKnown(f) && !sure {
		if f, err = c.look(ctx, gocql.All); err != nil {
			result := c.notWritten(err)
			result.Code = codeUnchecked
			return result
		}
	}
	if !c.asKnown(f) {
		return c.refused(f)
	}
	var result driver.Result
	if c.op.Kind == driver.Increment {
		result = c.count(ctx)
		result.Value = f.count + 1
	} else {
		result = c.write(ctx)
	}
	if result.Class == driver.OK && !c.op.Known.Sure() && !c.op.Known.Create && (sure || c.op.Kind != driver.Increment) {
		before := f.at()
		result.Before = &before
	}
	return result
}

// lookBefore reads what the write will follow. Where a count is in doubt it asks every replica, for
// half of the time that is left: one of them alone may have it, and pass it on later, which no other
// count covers up. sure tells that every replica answered.
func (c *call) lookBefore(ctx context.Context) (f found, sure bool, err error) {
	if c.op.Kind == driver.Increment && !c.op.Known.Sure() {
		half, cancel := ctx, context.CancelFunc(func() {})
		if until, limited := ctx.Deadline(); limited {
			half, cancel = context.WithTimeout(ctx, time.Until(until)/2)
		}
		f, err = c.look(half, gocql.All)
		cancel()
		if err == nil {
			return f, true, nil
		}
	}
	f, err = c.look(ctx, c.reading())
	return f, false, err
}

// at is the sequence, or the count, that was found.
func (f found) at() int64 {
	if f.record != nil {
		return int64(f.record.Seq)
	}
	return f.count
}

func (c *call) asKnown(f found) bool {
	back := c.lookOf(f)
	return c.op.Known.Fits(&back)
}

func (c *call) lookOf(f found) driver.ReadBack {
	back := f.readBack(c.op.ID)
	back.Foreign = f.record != nil && f.record.Writer != c.op.Record.Writer
	return back
}

// notWritten is a write that ended with the read before it.
func (c *call) notWritten(err error) driver.Result {
	result := classify(err, driver.Read, c.seen)
	result.Code = "read first: " + result.Code
	return result
}

// refused is a write that did not find what it was to find.
func (c *call) refused(f found) driver.Result {
	look := c.lookOf(f)
	result := driver.Result{
		Class: driver.Failed, Cause: driver.CauseGeneration, Code: codeNoMatch,
		Sent: true, Attempts: 1, Refused: true, Look: &look,
	}
	if look.Missing {
		result.Cause = driver.CauseNotFound
	}
	return result
}
