package aerospike

import (
	"context"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

// TimesItself says that the client's own time-outs end every operation.
func (d *Driver) TimesItself() {}

// Do does one operation; what is left of its deadline is the client's total
// time-out, the socket's, and the server's own limit.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	deadline, _ := ctx.Deadline()
	s := d.streams[op.Stream]
	c := s.callFor(op)
	defer s.calls.Put(c)
	c.deadline = deadline
	for pause := driver.Milliseconds(d.policy.SleepBetweenRetriesMS); ; pause = laterPause {
		start := time.Now()
		left := deadline.Sub(start)
		if left <= 0 {
			return driver.Result{Class: driver.Failed, Cause: driver.CauseTotalTimeout, Code: "deadline", Retryable: true}
		}
		c.limit(left, pause)
		result, err := d.send(c, op)
		if err == nil {
			return result
		}
		result = classify(err, op.Kind, d.timedOut(start, left))
		if !connecting(&result) || time.Until(deadline) < laterPause {
			return result
		}
	}
}

// laterPause is the first pause when the client has stopped looking for a connection
// and is made to continue.
const laterPause = 100 * time.Millisecond

// connecting tells of an operation that found no connection: the client stops
// looking when its next, longer sleep would end after the deadline.
func connecting(result *driver.Result) bool {
	return !result.Sent &&
		(result.Cause == driver.CauseConnectTimeout || result.Cause == driver.CausePoolExhausted)
}

func (d *Driver) send(c *call, op *driver.Op) (driver.Result, client.Error) {
	if op.Document != nil {
		return d.sendDocument(c, op)
	}
	if op.Known != nil {
		return d.writeKnown(c, op)
	}
	switch op.Kind {
	case driver.Read:
		return d.readOne(c, op)
	case driver.Batch:
		return d.readAll(c, op)
	}
	return d.writeThere(c, op)
}

var done = driver.Result{Class: driver.OK, Sent: true, Attempts: 1}

func (d *Driver) readOne(c *call, op *driver.Op) (driver.Result, client.Error) {
	stored, err := d.client.Get(&c.read, c.key)
	if isCode(err, types.KEY_NOT_FOUND_ERROR) {
		return done, nil
	}
	if err != nil {
		return done, err
	}
	return done.Holding(takeApart(op.ID, stored.Bins)), nil
}

// readAll reads several records at once, each of which has to be there.
func (d *Driver) readAll(c *call, op *driver.Op) (driver.Result, client.Error) {
	records, err := d.client.BatchGet(&c.batch, c.keysOf(op))
	if err != nil {
		return done, err
	}
	result := done
	result.Found = true
	for i, record := range records {
		if record == nil {
			return done, nil
		}
		if !takeApart(op.IDs[i], record.Bins).Intact() {
			result = result.Spoilt(driver.Failed)
		}
	}
	return result, nil
}

// writeThere writes to a record without knowing what it holds, but that it was written before:
// one that is missing has to be made anew, which is told.
func (d *Driver) writeThere(c *call, op *driver.Op) (driver.Result, client.Error) {
	c.unconditional()
	if op.Kind == driver.Insert {
		c.write.RecordExistsAction = client.CREATE_ONLY
		return d.writeOne(c, op)
	}
	c.write.RecordExistsAction = existing(op.Kind)
	result, err := d.writeOne(c, op)
	if !isCode(err, types.KEY_NOT_FOUND_ERROR) {
		return result, err
	}
	c.write.RecordExistsAction = client.REPLACE
	if op.Kind == driver.Increment {
		c.write.RecordExistsAction = client.UPDATE
	}
	result, err = d.writeOne(c, op)
	result.Remade = true // even if this write failed: a later one may find the record
	return result, err
}

// existing is what is done with a record that is there, and only with such a one.
func existing(kind driver.Kind) client.RecordExistsAction {
	if kind == driver.Increment {
		return client.UPDATE_ONLY
	}
	return client.REPLACE_ONLY
}

// writeOne writes by the policy as it is set.
func (d *Driver) writeOne(c *call, op *driver.Op) (driver.Result, client.Error) {
	switch op.Kind {
	case driver.Increment:
		return done, d.client.AddBins(&c.write, c.key, c.one)
	case driver.Operate:
		return d.operate(c, op)
	}
	c.bins = c.bins.fill(&op.Record, op.Value, op.Fields)
	return done, d.client.PutBins(&c.write, c.key, c.bins...)
}

// operate replaces a record and reads back what then is stored, as one operation.
func (d *Driver) operate(c *call, op *driver.Op) (driver.Result, client.Error) {
	c.bins = c.bins.fill(&op.Record, op.Value, op.Fields)
	stored, err := d.client.Operate(&c.write, c.key, c.bins.puts()...)
	if err != nil {
		return done, err
	}
	if f := takeApart(op.ID, stored.Bins); !f.Valid || *f.Record != op.Record {
		return done.Spoilt(driver.InDoubt), nil
	}
	return done, nil
}

// timedOut tells whether an operation of that start has used up the time that one
// attempt had: the client does not say whose time-out it met.
func (d *Driver) timedOut(start time.Time, left time.Duration) bool {
	return time.Since(start) >= d.policy.socketTimeout(left)
}
