package scripted

import (
	"context"
	"errors"
	"net"
	"syscall"

	"brownout/loadgen/driver"
	"brownout/loadgen/scriptserver/wire"
)

var verbs = map[driver.Kind]wire.Verb{
	driver.Read: wire.Get, driver.Update: wire.Put, driver.Insert: wire.Put, driver.Increment: wire.Increment,
	driver.Operate: wire.Put,
}

// Do does one operation until the deadline; a batch is a read after the other.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	if op.Kind != driver.Batch {
		return d.send(ctx, op)
	}
	var result driver.Result
	for _, id := range op.IDs {
		one := driver.Op{Kind: driver.Read, Stream: op.Stream, ID: id, Verified: op.Verified}
		if result = d.send(ctx, &one); result.Class != driver.OK || !result.Found {
			break
		}
	}
	return result
}

// send sends one request and waits for its answer.
func (d *Driver) send(ctx context.Context, op *driver.Op) driver.Result {
	l := d.lane(op.ID).link()
	if err := l.connected(ctx); err != nil {
		return notConnected(err)
	}
	c := calls.Get().(*call)
	*c = call{done: c.done, key: op.ID}
	request := wire.Request{
		Verb: verbs[op.Kind], Key: op.ID, Writer: op.Record.Writer,
		Seq: op.Record.Seq, Checksum: op.Record.Checksum, Value: op.Value,
	}
	if err := l.send(c, &request); err != nil {
		calls.Put(c)
		return driver.Result{Class: driver.Failed, Cause: driver.CauseConnectionReset, Retryable: true}
	}
	if !l.wait(ctx, c) {
		calls.Put(c)
		return unanswered(op.Kind, driver.CauseTotalTimeout, false)
	}
	defer calls.Put(c)
	if c.broken {
		return unanswered(op.Kind, driver.CauseConnectionReset, true)
	}
	return c.result(op.Kind)
}

// arrive keeps what is needed of an answer, and wakes its caller.
func (c *call) arrive(answer *wire.Response) {
	c.answer = *answer
	if record := c.record(); record.Writer != "" {
		c.checksum = record.Valid(c.key, answer.Value)
	}
	if c.keep {
		c.value = append([]byte(nil), answer.Value...)
	}
	c.answer.Value = nil
	c.done <- struct{}{}
}

func (c *call) record() driver.Record {
	return driver.Record{Writer: c.answer.Writer, Seq: c.answer.Seq, Checksum: c.answer.Checksum}
}

func (c *call) result(kind driver.Kind) driver.Result {
	result := driver.Result{Sent: true, Cause: driver.Cause(c.answer.Cause), Code: c.answer.Code}
	switch c.answer.Status {
	case wire.OK:
		if kind != driver.Read {
			result.Value = c.answer.Number
			return result
		}
		record := c.record()
		result.Found, result.Record = true, &record
		if record.Writer != "" && !c.checksum {
			result.Class, result.Cause = driver.Failed, driver.CauseIntegrity
		}
	case wire.Missing:
	case wire.InDoubt:
		result.Class, result.Retryable = driver.InDoubt, true
	default:
		result.Class, result.Retryable = driver.Failed, true
	}
	return result
}

// unanswered is what was sent and never answered: a write is in doubt then.
func unanswered(kind driver.Kind, cause driver.Cause, retryable bool) driver.Result {
	result := driver.Result{Class: driver.Failed, Cause: cause, Sent: true, Retryable: retryable}
	if kind.Write() {
		result.Class = driver.InDoubt
	}
	return result
}

func notConnected(err error) driver.Result {
	result := driver.Result{Class: driver.Failed, Cause: driver.CauseOther, Retryable: true}
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		result.Cause, result.Code = driver.CauseConnectRefused, "ECONNREFUSED"
	case errors.Is(err, syscall.ECONNRESET):
		result.Cause, result.Code = driver.CauseConnectionReset, "ECONNRESET"
	case errors.As(err, &timeout) && timeout.Timeout():
		result.Cause = driver.CauseConnectTimeout
	}
	return result
}
