package etcd

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
)

// call is one operation on its way to one server.
type call struct {
	clientv3.KV
	op   *driver.Op
	key  string
	seen *attempts
}

// Do does one operation; ctx carries its deadline, which the client also gives to the server. What
// finds no connection to be sent over is not sent, and waits for one, to whichever member, as with
// the client's own balancer.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	for {
		result := d.once(ctx, op)
		if result.Sent || !unconnected(result.Cause) {
			return result
		}
		select {
		case <-ctx.Done():
			return result
		case <-time.After(connectionPause):
		}
	}
}

const connectionPause = 20 * time.Millisecond

func unconnected(cause driver.Cause) bool {
	return cause == driver.CauseConnectRefused || cause == driver.CauseNoNode || cause == driver.CauseConnectTimeout
}

func (d *Driver) once(ctx context.Context, op *driver.Op) driver.Result {
	server := d.serverFor(op)
	if server == nil {
		return driver.Result{Class: driver.Failed, Cause: driver.CauseNoNode, Code: "no login", Retryable: true}
	}
	if d.policy.RequireLeader {
		ctx = clientv3.WithRequireLeader(ctx)
	}
	ctx, seen := withAttempts(ctx)
	c := &call{server, op, d.keys().Key(op.Verified, op.ID), seen}
	if op.Document != nil {
		c.key = d.keys().Document(op.Document.Set, op.Document.ID)
		return c.document(ctx, op.Document)
	}
	if op.Known != nil {
		return c.writeKnown(ctx)
	}
	switch op.Kind {
	case driver.Read:
		return c.read(ctx, d.policy.reading())
	case driver.Batch:
		return c.readAll(ctx, d, d.policy.reading())
	case driver.Insert:
		return c.insert(ctx, whole(op))
	case driver.Increment:
		return c.increment(ctx)
	}
	return c.replace(ctx)
}

func (c *call) classify(err error) driver.Result { return classify(err, c.op.Kind, c.seen) }

func (c *call) read(ctx context.Context, how []clientv3.OpOption) driver.Result {
	got, err := c.Get(ctx, c.key, how...)
	result := c.classify(err)
	if err != nil || len(got.Kvs) == 0 {
		return result
	}
	f := takeApart(c.op.ID, got.Kvs[0].Value)
	return result.Holding(f)
}

// readAll reads several records by one request, each of which has to be there.
func (c *call) readAll(ctx context.Context, d *Driver, how []clientv3.OpOption) driver.Result {
	reads := make([]clientv3.Op, len(c.op.IDs))
	for i, id := range c.op.IDs {
		reads[i] = clientv3.OpGet(d.keys().Key(c.op.Verified, id), how...)
	}
	got, err := c.Txn(ctx).Then(reads...).Commit()
	result := c.classify(err)
	if err != nil {
		return result
	}
	result.Found = true
	for i, id := range c.op.IDs {
		kv := readBy(got, i)
		if kv == nil {
			result.Found = false
		} else if !takeApart(id, kv.Value).Intact() {
			result = result.Spoilt(driver.Failed)
		}
	}
	return result
}

// readBy is what the read number i of a transaction found; nil for nothing.
func readBy(done *clientv3.TxnResponse, i int) *mvccpb.KeyValue {
	return first(done.Responses[i].GetResponseRange().Kvs)
}

func first(kvs []*mvccpb.KeyValue) *mvccpb.KeyValue {
	if len(kvs) == 0 {
		return nil
	}
	return kvs[0]
}

func isThere(key string) clientv3.Cmp { return clientv3.Compare(clientv3.CreateRevision(key), ">", 0) }
func isMissing(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

// insert makes a key that never was.
func (c *call) insert(ctx context.Context, value string) driver.Result {
	done, err := c.Txn(ctx).If(isMissing(c.key)).
		Then(clientv3.OpPut(c.key, value)).Else(clientv3.OpGet(c.key)).Commit()
	result := c.classify(err)
	if err == nil && !done.Succeeded && !c.isOwn(readBy(done, 0), value) {
		result.Class, result.Cause, result.Code = driver.Failed, driver.CauseKeyBusy, "exists"
	}
	return result
}

// isOwn tells that what stands in a write's way is that write itself: its client has sent it
// more than once.
func (c *call) isOwn(stored *mvccpb.KeyValue, written string) bool {
	return c.seen.sent > 1 && stored != nil && string(stored.Value) == written
}

// replace writes a record without knowing what is stored, but that something is: what is
// missing has to be made anew, which is told.
func (c *call) replace(ctx context.Context) driver.Result {
	writes := []clientv3.Op{clientv3.OpPut(c.key, whole(c.op))}
	if c.op.Kind == driver.Operate {
		writes = append(writes, clientv3.OpGet(c.key))
	}
	done, err := c.Txn(ctx).If(isThere(c.key)).Then(writes...).Else(writes...).Commit()
	result := c.classify(err)
	if err != nil {
		return result
	}
	result.Remade = !done.Succeeded
	return c.exchanged(done, result)
}

// exchanged holds what an Operate read back against what it wrote.
func (c *call) exchanged(done *clientv3.TxnResponse, result driver.Result) driver.Result {
	if c.op.Kind != driver.Operate {
		return result
	}
	if kv := readBy(done, 1); kv == nil || string(kv.Value) != whole(c.op) {
		result = result.Spoilt(driver.InDoubt)
	}
	return result
}

// increment adds one to a counter, made if it is missing, which is told.
func (c *call) increment(ctx context.Context) driver.Result {
	var value int64
	remade := false
	result, _ := c.change(ctx, func(stored *mvccpb.KeyValue) (string, bool) {
		remade, value = stored == nil, 1
		if stored != nil {
			f := takeApart(c.op.ID, stored.Value)
			value = f.Count + 1
			if !f.Counter {
				return "", false
			}
		}
		return count(value), true
	})
	if result.Class == driver.OK {
		result.Value, result.Remade = value, remade
	}
	return result
}

// change writes what next makes of what is stored, provided that it was not written
// meanwhile; else it begins anew. etcd has no other way to change a part of a value. If next says
// no, nothing is written and written is false.
func (c *call) change(
	ctx context.Context, next func(stored *mvccpb.KeyValue) (value string, ok bool),
) (result driver.Result, written bool) {
	got, err := c.Get(ctx, c.key)
	if err != nil {
		return classify(err, driver.Read, c.seen), false
	}
	for stored := first(got.Kvs); ; {
		value, ok := next(stored)
		if !ok {
			return driver.Result{
				Class: driver.Failed, Cause: driver.CauseIntegrity, Code: driver.CodeNoMatch, Sent: true, Attempts: 1,
			}, false
		}
		c.seen.sent = 0 // nothing of what was sent so far can have an effect
		done, err := c.Txn(ctx).If(unchanged(c.key, stored)).
			Then(clientv3.OpPut(c.key, value)).Else(clientv3.OpGet(c.key)).Commit()
		if err != nil || done.Succeeded {
			return c.classify(err), err == nil
		}
		if c.seen.sent > 1 { // who changed it, an earlier attempt or another client?
			return c.classify(errOvertaken), false
		}
		stored = readBy(done, 0)
	}
}

var errOvertaken = errors.New("the value changed between two attempts")

// unchanged wants the version that was read, or still none.
func unchanged(key string, read *mvccpb.KeyValue) clientv3.Cmp {
	if read == nil {
		return isMissing(key)
	}
	return clientv3.Compare(clientv3.ModRevision(key), "=", read.ModRevision)
}
