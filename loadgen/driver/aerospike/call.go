package aerospike

import (
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
)

// call is what one operation hands to the client: made once, used by one
// operation after the other. The client keeps nothing of it.
type call struct {
	driver  *Driver
	read    client.BasePolicy
	write   client.WritePolicy
	key     *client.Key // of this operation: one of the three below, or a document's
	data    *client.Key
	ledger  *client.Key
	inserts *client.Key
	batch   client.BatchPolicy
	bins    bins
	one     *client.Bin

	deadline time.Time
}

func (d *Driver) newCall(attempts int) *call {
	return &call{
		driver: d, read: d.policy.reads(attempts), write: d.policy.writes(), batch: d.policy.batches(attempts),
		data: d.newKey(d.sets.data), ledger: d.newKey(d.sets.ledger), inserts: d.newKey(d.sets.inserts),
		bins: newBins(), one: counterBin(1),
	}
}

func (d *Driver) newKey(set string) *client.Key {
	key, _ := client.NewKey(d.sets.namespace, set, "") // a text always is a key
	return key
}

// callFor is what Lane has prepared for the operation, or one prepared now. Its
// key's digest is worth working out only once.
func (s *stream) callFor(op *driver.Op) *call {
	if c, ok := op.Prepared.(*call); ok {
		op.Prepared = nil
		return c
	}
	c := s.calls.Get().(*call)
	c.prepare(op)
	return c
}

// prepare works out the key of an operation; a batch has many.
func (c *call) prepare(op *driver.Op) {
	switch {
	case op.Kind == driver.Batch:
		return
	case op.Document != nil:
		c.key = c.driver.sets.documentKey(op.Document.Set, op.Document.ID)
		return
	case op.Verified:
		c.key = c.ledger
	case op.Kind == driver.Insert:
		c.key = c.inserts
	default:
		c.key = c.data
	}
	_ = c.key.SetValue(client.StringValue(op.ID)) // a text always is a key
}

// keysOf are the keys of a batch.
func (c *call) keysOf(op *driver.Op) []*client.Key {
	set := c.data.SetName()
	if op.Verified {
		set = c.ledger.SetName()
	}
	keys := make([]*client.Key, len(op.IDs))
	for i, id := range op.IDs {
		keys[i], _ = client.NewKey(c.data.Namespace(), set, id) // a text always is a key
	}
	return keys
}

// limit gives the operation the time that is left of its deadline, and the first
// pause before it looks again for what it did not find.
func (c *call) limit(left, pause time.Duration) {
	c.read.SleepBetweenRetries, c.write.SleepBetweenRetries = pause, pause
	c.batch.SleepBetweenRetries = pause
	each := c.driver.policy.socketTimeout(left)
	c.read.TotalTimeout, c.read.SocketTimeout = left, each
	c.write.TotalTimeout, c.write.SocketTimeout = left, each
	c.batch.TotalTimeout, c.batch.SocketTimeout = left, each
}
