package aerospike

import (
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

// A write with a condition names what has to be stored:
//
//	by its generation   where every write of the key was acknowledged: the server compares it
//	                    in its index, and has nothing to read
//	by its content      where the generation is not known, or more than one content is possible:
//	                    a filter expression on the sequence or the count, in the same request,
//	                    which also brings back what was found
//
// The generation alone is not enough after a write in doubt: two writes of the same generation
// may have been stored on two sides of a split, and either may win.

// writeKnown writes where what is known to be stored is stored. A refused write is looked into at
// once; if it turns out that only the generation was not as counted, it is done again.
func (d *Driver) writeKnown(c *call, op *driver.Op) (driver.Result, client.Error) {
	defer c.unconditional()
	result, err := d.writeIf(c, op, op.Known.Generation)
	if !refuses(err) {
		return result, err
	}
	look := d.look(c, op)
	if look != nil && op.Known.Generation != 0 && op.Known.Fits(look) && c.shorten() {
		if result, err = d.writeIf(c, op, 0); !refuses(err) {
			return result, err
		}
		look = d.look(c, op)
	}
	result = classify(err, op.Kind, false)
	if isCode(err, types.KEY_NOT_FOUND_ERROR) {
		result.Cause = driver.CauseNotFound
	}
	result.Refused, result.Look = true, look
	return result, nil
}

// refuses tells of a write that did not find what it was to find.
func refuses(err client.Error) bool {
	return isCode(err, types.KEY_NOT_FOUND_ERROR) || isCode(err, types.GENERATION_ERROR) ||
		isCode(err, types.FILTERED_OUT) || isCode(err, types.KEY_EXISTS_ERROR)
}

func (d *Driver) writeIf(c *call, op *driver.Op, generation uint32) (driver.Result, client.Error) {
	c.unconditional()
	switch {
	case op.Known.Create:
		c.write.RecordExistsAction = client.CREATE_ONLY
		result, err := d.writeOne(c, op)
		result.Generation = 1
		return result, err
	case generation != 0:
		c.write.RecordExistsAction = existing(op.Kind)
		c.write.GenerationPolicy, c.write.Generation = client.EXPECT_GEN_EQUAL, generation
		result, err := d.writeOne(c, op)
		result.Generation = generation + 1
		return result, err
	}
	return d.writeFiltered(c, op)
}

// writeFiltered has the server compare the content. All bins of a register are always the same
// ones, so that updating them replaces it.
func (d *Driver) writeFiltered(c *call, op *driver.Op) (driver.Result, client.Error) {
	c.write.RecordExistsAction = client.UPDATE_ONLY
	bin, operations := binSeq, []*client.Operation(nil)
	if op.Kind == driver.Increment {
		bin = binCounter
		operations = append(operations, client.GetBinOp(bin), client.AddOp(c.one))
	} else {
		c.bins = c.bins.fill(&op.Record, op.Value, op.Fields)
		operations = append(operations, client.GetBinOp(bin))
		for _, bin := range c.bins {
			operations = append(operations, client.PutOp(bin))
		}
	}
	c.write.FilterExpression = client.ExpAnd(
		client.ExpGreaterEq(client.ExpIntBin(bin), client.ExpIntVal(op.Known.First)),
		client.ExpLessEq(client.ExpIntBin(bin), client.ExpIntVal(op.Known.Last)),
	)
	if op.Kind != driver.Increment {
		c.write.FilterExpression = client.ExpAnd(
			client.ExpEq(client.ExpStringBin(binWriter), client.ExpStringVal(op.Record.Writer)),
			c.write.FilterExpression,
		)
	}
	stored, err := d.client.Operate(&c.write, c.key, operations...)
	if err != nil {
		return done, err
	}
	result := done
	result.Generation = stored.Generation
	if found, ok := stored.Bins[bin].(int); ok {
		before := int64(found)
		result.Before = &before
	}
	return result, nil
}

// look reads from the master, which asks every copy that may be newer, what is stored; nil if it
// cannot say so in the time that is left.
func (d *Driver) look(c *call, op *driver.Op) *driver.ReadBack {
	if !c.shorten() {
		return nil
	}
	policy := c.read
	policy.ReadModeAP, policy.ReplicaPolicy, policy.MaxRetries = client.ReadModeAPAll, client.MASTER, 0
	stored, err := d.client.Get(&policy, c.key)
	if isCode(err, types.KEY_NOT_FOUND_ERROR) {
		return &driver.ReadBack{ID: op.ID, Missing: true}
	}
	if err != nil {
		return nil
	}
	back := takeApart(op.ID, stored.Bins).ReadBack(op.ID, op.Kind == driver.Increment)
	return op.Look(&back)
}

// unconditional takes back every condition.
func (c *call) unconditional() {
	c.write.GenerationPolicy, c.write.Generation, c.write.FilterExpression = client.NONE, 0, nil
}

// shorten leaves the time that is left until the deadline, and tells whether there is any.
func (c *call) shorten() bool {
	left := time.Until(c.deadline)
	if left <= 0 {
		return false
	}
	c.limit(left, c.read.SleepBetweenRetries)
	return true
}
