package redis

import (
	"context"
	"fmt"

	"brownout/loadgen/driver"
)

// call is one operation on its way.
type call struct {
	client
	op   *driver.Op
	key  string
	seen *attempts
}

// Lane names the shard that has the key.
func (d *Driver) Lane(op *driver.Op) string {
	switch {
	case op.Document != nil:
		return d.laneOf(d.keys().Document(op.Document.Set, op.Document.ID))
	case op.Kind != driver.Batch:
		return d.laneOf(d.keys().Key(op.Verified, op.ID))
	}
	lane := ""
	for _, id := range op.IDs {
		its := d.laneOf(d.keys().Key(op.Verified, id))
		if lane != "" && its != lane {
			return laneShards
		}
		lane = its
	}
	return lane
}

// Do does one operation; ctx carries its deadline, of which the server knows nothing.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	of := d.wayOf(op)
	ctx, seen := withAttempts(ctx, !of.retries)
	c := &call{d.clients[of], op, d.keys().Key(op.Verified, op.ID), seen}
	switch {
	case op.Document != nil:
		c.key = d.keys().Document(op.Document.Set, op.Document.ID)
		return c.document(ctx, op.Document)
	case op.Known != nil:
		return c.writeKnown(ctx)
	}
	switch op.Kind {
	case driver.Read:
		return c.read(ctx)
	case driver.Batch:
		return c.readAll(ctx, d)
	case driver.Insert:
		return c.insert(ctx)
	case driver.Increment:
		return c.increment(ctx)
	case driver.Operate:
		return c.operate(ctx)
	}
	return c.replace(ctx)
}

func (c *call) classify(err error) driver.Result { return classify(err, c.op.Kind, c.seen) }

func (c *call) read(ctx context.Context) driver.Result {
	got, err := c.do(ctx, read("GET", c.key))
	result := c.classify(err)
	value, there := got.(string)
	if err != nil || !there {
		return result
	}
	return result.Holding(takeApart(c.op.ID, value))
}

// readAll reads several records, of each node in one request; each has to be there.
func (c *call) readAll(ctx context.Context, d *Driver) driver.Result {
	reads := make([]command, len(c.op.IDs))
	for i, id := range c.op.IDs {
		reads[i] = read("GET", d.keys().Key(c.op.Verified, id))
	}
	replies := c.together(ctx, reads)
	for _, one := range replies {
		if one.err != nil {
			return c.ofBatch(one.err)
		}
	}
	result := c.ofBatch(nil)
	result.Found = true
	for i, one := range replies {
		value, there := one.value.(string)
		if !there {
			result.Found = false
		} else if !takeApart(c.op.IDs[i], value).Intact() {
			result = result.Spoilt(driver.Failed)
		}
	}
	return result
}

// ofBatch counts the requests to several nodes as one attempt.
func (c *call) ofBatch(err error) driver.Result {
	result := c.classify(err)
	result.Attempts = 1
	return result
}

// insert makes a key that never was.
func (c *call) insert(ctx context.Context) driver.Result {
	done, err := c.do(ctx, write("SET", c.key, whole(c.op), "NX"))
	if err == nil && done == nil {
		return c.exists(c.seen.doubt)
	}
	return c.classify(err)
}

// exists is an insert whose key was there; what is there may come from an earlier attempt of its own.
func (c *call) exists(ownPerhaps bool) driver.Result {
	result := c.classify(nil)
	result.Class, result.Cause, result.Code = driver.Failed, driver.CauseKeyBusy, "exists"
	if ownPerhaps {
		result.Class = driver.InDoubt
	}
	return result
}

// replace writes a record without knowing what is stored, but that something is: what is missing
// has to be made anew, which is told.
func (c *call) replace(ctx context.Context) driver.Result {
	done, err := c.do(ctx, write("SET", c.key, whole(c.op), "XX"))
	if err != nil || done != nil {
		return c.classify(err)
	}
	c.seen.restart() // the first command wrote nothing
	_, err = c.do(ctx, write("SET", c.key, whole(c.op)))
	result := c.classify(err)
	result.Remade = true // even if this write failed: a later one may find the record
	return result
}

// operate writes a record and reads it back, in one step.
func (c *call) operate(ctx context.Context) driver.Result {
	done, err := c.do(ctx, script(operating, c.key, whole(c.op)))
	result := c.classify(err)
	if err != nil {
		return result
	}
	there, back := pair(done)
	result.Remade = there == int64(0)
	return c.exchanged(back, result)
}

// exchanged holds what an Operate read back against what it wrote.
func (c *call) exchanged(back any, result driver.Result) driver.Result {
	if c.op.Kind == driver.Operate && back != whole(c.op) {
		return result.Spoilt(driver.InDoubt)
	}
	return result
}

// increment adds one to a counter, made if it is missing, which is told.
func (c *call) increment(ctx context.Context) driver.Result {
	done, err := c.do(ctx, script(countingOn, c.key))
	result := c.classify(err)
	if err != nil {
		return result
	}
	there, count := pair(done)
	result.Remade = there == int64(0)
	result.Value, _ = count.(int64)
	return result
}

// pair takes the first two of a script's replies.
func pair(replies any) (first, second any) {
	list, _ := replies.([]any)
	if len(list) > 0 {
		first = list[0]
	}
	if len(list) > 1 {
		second = list[1]
	}
	return first, second
}

func text(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
