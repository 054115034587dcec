package etcd

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
)

var _ driver.KeepsDocuments = (*Driver)(nil)

// A document is stored as JSON; a change reads it and writes it back if it is still the same.

// document does an operation on a document.
func (c *call) document(ctx context.Context, wanted *driver.Document) driver.Result {
	switch c.op.Kind {
	case driver.Read:
		got, err := c.Get(ctx, c.key)
		result := c.classify(err)
		result.Found = err == nil && len(got.Kvs) > 0
		return result
	case driver.Insert:
		fresh, _ := wanted.Applied(nil)
		return c.insert(ctx, fresh)
	}
	remade, missing := false, false
	result, written := c.change(ctx, func(stored *mvccpb.KeyValue) (string, bool) {
		if missing = stored == nil && wanted.There; missing {
			if c.op.Kind != driver.Increment {
				return "", false
			}
		}
		remade = missing
		var before []byte
		if stored != nil {
			before = stored.Value
		}
		changed, err := wanted.Applied(before)
		return changed, err == nil
	})
	wanted.Remade = written && remade
	if missing && !remade {
		result.Cause = driver.CauseNotFound
	}
	return result
}

// EmptyDocuments removes every document.
func (d *Driver) EmptyDocuments(ctx context.Context) error {
	return d.controlled(ctx, func(c *control) error {
		for _, set := range driver.DocumentSets() {
			if err := c.empty(ctx, set); err != nil {
				return err
			}
		}
		return nil
	})
}

// finder looks for documents with the control client.
type finder struct{ *control }

// Finder reads linearizable.
func (d *Driver) Finder(ctx context.Context) (driver.Finder, error) {
	c, err := d.control(ctx)
	if err != nil {
		return nil, redacted(err, d.config)
	}
	return finder{c}, nil
}

// Have asks for the keys alone.
func (f finder) Have(ctx context.Context, wanted []driver.DocumentKey) ([]bool, error) {
	keys := make([]string, len(wanted))
	for i, key := range wanted {
		keys[i] = f.keys().Document(key.Set, key.ID)
	}
	have := make([]bool, len(wanted))
	err := f.readAll(ctx, keys, func(i int, kv *mvccpb.KeyValue) { have[i] = kv != nil }, clientv3.WithKeysOnly())
	if err != nil {
		return nil, redacted(fmt.Errorf("looking for documents: %w", err), f.config)
	}
	return have, nil
}

// Count reads one field.
func (f finder) Count(ctx context.Context, key driver.DocumentKey, field string) (int64, bool, error) {
	got, err := f.do(ctx, clientv3.OpGet(f.keys().Document(key.Set, key.ID)))
	if err != nil {
		return 0, false, redacted(fmt.Errorf("reading %s: %w", key.Set, err), f.config)
	}
	kv := first(got.Get().Kvs)
	if kv == nil {
		return 0, false, nil
	}
	return driver.NumberIn(kv.Value, field), true, nil
}
