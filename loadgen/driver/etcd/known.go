package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
)

// writeKnown writes only where what is known to be stored is stored. The condition is on the
// content and not on the revision: after a write in doubt the revision is unknown, and a
// cluster that was put back from a snapshot gives the same ones again. A write that is refused
// brings back, from the same transaction, what is stored instead.
func (c *call) writeKnown(ctx context.Context) driver.Result {
	known := c.op.Known
	if c.op.Kind == driver.Increment && !known.Sure() && !known.Create {
		return c.countOn(ctx)
	}
	value := c.next()
	writes := []clientv3.Op{clientv3.OpPut(c.key, value, clientv3.WithPrevKV())}
	if c.op.Kind == driver.Operate {
		writes = append(writes, clientv3.OpGet(c.key))
	}
	done, err := c.Txn(ctx).If(c.asKnown()...).Then(writes...).Else(clientv3.OpGet(c.key)).Commit()
	result := c.classify(err)
	if err != nil {
		return result
	}
	if !done.Succeeded {
		if stored := readBy(done, 0); !c.isOwn(stored, value) {
			return c.refused(stored)
		}
		return result
	}
	if before := done.Responses[0].GetResponsePut().PrevKv; before != nil && !known.Sure() {
		if f := takeApart(c.op.ID, before.Value); f.Record != nil {
			seq := int64(f.Record.Seq)
			result.Before = &seq
		}
	}
	return c.exchanged(done, result)
}

// next is the value to write, of a counter whose value is known.
func (c *call) next() string {
	switch {
	case c.op.Kind != driver.Increment:
		return whole(c.op)
	case c.op.Known.Create:
		return count(1)
	}
	return count(c.op.Known.First + 1)
}

// asKnown wants a sequence, or a count, of those that are possible: all values of one writer
// lie in the order of their sequences.
func (c *call) asKnown() []clientv3.Cmp {
	known := c.op.Known
	switch {
	case known.Create:
		return []clientv3.Cmp{isMissing(c.key)}
	case c.op.Kind == driver.Increment:
		return []clientv3.Cmp{clientv3.Compare(clientv3.Value(c.key), "=", count(known.First))}
	}
	writer := c.op.Record.Writer
	return []clientv3.Cmp{
		clientv3.Compare(clientv3.Value(c.key), ">", string(ordered(writer, uint64(known.First)))),
		clientv3.Compare(clientv3.Value(c.key), "<", string(ordered(writer, uint64(known.Last)+1))),
	}
}

// countOn adds one to a counter that may have several values.
func (c *call) countOn(ctx context.Context) driver.Result {
	var instead, before *mvccpb.KeyValue
	result, written := c.change(ctx, func(stored *mvccpb.KeyValue) (string, bool) {
		look := readBack(c.op.ID, stored, true)
		if !c.op.Known.Fits(&look) {
			instead = stored
			return "", false
		}
		before = stored
		return count(look.Value + 1), true
	})
	switch {
	case written:
		was := takeApart(c.op.ID, before.Value).Count
		result.Before = &was
	case result.Code == driver.CodeNoMatch:
		return c.refused(instead)
	}
	return result
}

// refused is a write that did not find what it was to find.
func (c *call) refused(instead *mvccpb.KeyValue) driver.Result {
	found := readBack(c.op.ID, instead, c.op.Kind == driver.Increment)
	return driver.Refused(c.op, &found)
}
