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
	data    *client.Key
	ledger  *client.Key
	inserts *client.Key
	batch   client.BatchPolicy
	bins    bins
	one     *client.Bin
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

// keyOf is the key of an operation.
func (c *call) keyOf(op *driver.Op) *client.Key {
	key := c.data
	switch {
	case op.Verified:
		key = c.ledger
	case op.Kind == driver.Insert:
		key = c.inserts
	}
	_ = key.SetValue(client.StringValue(op.ID)) // a text always is a key
	return key
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
