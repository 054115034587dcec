package etcd

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
)

// ReadBack reads keys, linearizable: a member asks the leader, which asks a
// majority whether it still is one.
func (d *Driver) ReadBack(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = d.keys().Key(verified, id)
	}
	return d.controlled(ctx, func(c *control) error {
		err := c.readAll(ctx, keys, func(i int, kv *mvccpb.KeyValue) { each(readBack(ids[i], kv, counter)) })
		if err != nil {
			return fmt.Errorf("reading back: %w", err)
		}
		return nil
	})
}

// readAll reads keys, as many at once as a server takes, and reports each by its index.
func (c *control) readAll(
	ctx context.Context, keys []string, each func(i int, kv *mvccpb.KeyValue), how ...clientv3.OpOption,
) error {
	for from := 0; from < len(keys); from += batchRecords {
		part := keys[from:min(from+batchRecords, len(keys))]
		reads := make([]clientv3.Op, len(part))
		for i, key := range part {
			reads[i] = clientv3.OpGet(key, how...)
		}
		got, err := c.do(ctx, clientv3.OpTxn(nil, reads, nil))
		if err != nil {
			return err
		}
		for i := range part {
			each(from+i, readBy(got.Txn(), i))
		}
	}
	return nil
}
