package aerospike

import (
	"context"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

// Do does one operation; what is left of its deadline is the client's total
// time-out, the socket's, and the server's own limit.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	deadline, _ := ctx.Deadline()
	start := time.Now()
	left := deadline.Sub(start)
	if left <= 0 {
		return driver.Result{Class: driver.Failed, Cause: driver.CauseTotalTimeout, Code: "deadline", Retryable: true}
	}
	s := d.streams[op.Stream]
	c := s.calls.Get().(*call)
	defer s.calls.Put(c)
	c.limit(left)
	key := c.keyOf(op)
	if op.Kind == driver.Read {
		return d.readOne(c, key, op, start)
	}
	if err := d.writeOne(c, key, op); err != nil {
		return classify(err, op.Kind, d.timedOut(start, left))
	}
	return driver.Result{Class: driver.OK, Sent: true, Attempts: 1}
}

func (d *Driver) readOne(c *call, key *client.Key, op *driver.Op, start time.Time) driver.Result {
	stored, err := d.client.Get(&c.read, key)
	if err != nil {
		if isCode(err, types.KEY_NOT_FOUND_ERROR) {
			return driver.Result{Class: driver.OK, Sent: true, Attempts: 1}
		}
		return classify(err, op.Kind, d.timedOut(start, c.read.TotalTimeout))
	}
	f := takeApart(op.ID, stored.Bins)
	result := driver.Result{
		Class: driver.OK, Sent: true, Attempts: 1, Found: true, Record: f.record, Value: f.count,
	}
	if !f.intact() {
		result.Class, result.Cause, result.Code = driver.Failed, driver.CauseIntegrity, "checksum"
	}
	return result
}

func (d *Driver) writeOne(c *call, key *client.Key, op *driver.Op) client.Error {
	if op.Kind == driver.Increment {
		c.write.RecordExistsAction = client.UPDATE
		return d.client.AddBins(&c.write, key, c.one)
	}
	c.write.RecordExistsAction = client.REPLACE
	if op.Kind == driver.Insert {
		c.write.RecordExistsAction = client.CREATE_ONLY
	}
	c.bins.fill(&op.Record, op.Value)
	return d.client.PutBins(&c.write, key, c.bins...)
}

// timedOut tells whether an operation of that start has used up the time that one
// attempt had: the client does not say whose time-out it met.
func (d *Driver) timedOut(start time.Time, left time.Duration) bool {
	return time.Since(start) >= d.policy.socketTimeout(left)
}
