package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
)

const (
	// batchRecords is below what a server takes in one transaction without being told (128).
	batchRecords = 100
	// batchBytes is below what it takes in one request (1.5 MiB).
	batchBytes     = 1 << 20
	controlTimeout = 30 * time.Second
)

// Load claims the namespace and writes the data set, as [driver.Load] says.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	return d.controlled(ctx, func(c *control) error { return driver.Load(ctx, c, data, progress) })
}

// Clean removes all of our keys, and refuses those of others.
func (d *Driver) Clean(ctx context.Context) error {
	return d.controlled(ctx, func(c *control) error { return driver.Clean(ctx, c) })
}

func (d *Driver) checkLoaded(ctx context.Context) error {
	return d.controlled(ctx, func(c *control) error { return driver.CheckLoaded(ctx, c) })
}

// control is a client for everything but the load: of all members, retries on. It is there only
// while it is needed, so that it does not disturb the load.
type control struct {
	*Driver
	client *clientv3.Client
}

func (d *Driver) control(ctx context.Context) (*control, error) {
	client, err := d.wholeClient(ctx)
	if err != nil {
		return nil, err
	}
	return &control{d, client}, nil
}

func (d *Driver) controlled(ctx context.Context, do func(*control) error) error {
	c, err := d.control(ctx)
	if err == nil {
		defer c.Close()
		err = do(c)
	}
	return redacted(err, d.config)
}

func (c *control) Close() { _ = c.client.Close() }

// do does one request, with the time-out of those that are not part of the load.
func (c *control) do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	return c.client.Do(ctx, op)
}

// all means every key that begins so.
func all(prefix string, more ...clientv3.OpOption) clientv3.Op {
	return clientv3.OpGet(prefix, append(more, clientv3.WithPrefix())...)
}

var _ driver.Store = (*control)(nil)

func (c *control) String() string {
	return fmt.Sprintf("the namespace %q on %s", c.config.Namespace, strings.Join(c.hosts, ", "))
}

func (c *control) ReadMarker(ctx context.Context) (*driver.Marker, error) {
	got, err := c.do(ctx, clientv3.OpGet(c.keys().Marker()))
	if err != nil {
		return nil, err
	}
	kv := first(got.Get().Kvs)
	if kv == nil {
		return nil, nil
	}
	m := &driver.Marker{}
	if err := json.Unmarshal(kv.Value, m); err != nil {
		return nil, fmt.Errorf("the key %s was not made by brownout: %w", c.keys().Marker(), err)
	}
	return m, nil
}

func (c *control) WriteMarker(ctx context.Context, m *driver.Marker) error {
	text, err := json.Marshal(m)
	if err == nil {
		_, err = c.do(ctx, clientv3.OpPut(c.keys().Marker(), string(text)))
	}
	return err
}

func (c *control) Holds(ctx context.Context) (string, error) {
	const examples = 5
	got, err := c.do(ctx, all(c.config.Namespace+"/", clientv3.WithLimit(examples+1), clientv3.WithKeysOnly()))
	if err != nil {
		return "", err
	}
	names := make([]string, 0, examples)
	for _, kv := range got.Get().Kvs {
		if key := string(kv.Key); key != c.keys().Claim() && len(names) < examples {
			names = append(names, key)
		}
	}
	return strings.Join(names, ", "), nil
}

func (c *control) Count(ctx context.Context, data driver.Dataset) (items, others uint64, err error) {
	count := func(of clientv3.Op) uint64 {
		got, failed := c.do(ctx, of)
		if failed != nil {
			err = fmt.Errorf("counting the data set: %w", failed)
			return 0
		}
		return uint64(got.Get().Count)
	}
	end := c.keys().Key(false, driver.DataID(max(data.Keys, 1)-1)) + "\x00"
	items = count(clientv3.OpGet(c.keys().Key(false, driver.DataID(0)), clientv3.WithRange(end), clientv3.WithCountOnly()))
	everything := count(all(c.keys().Of(driver.PlaceData), clientv3.WithCountOnly()))
	return items, everything - items, err
}

func (c *control) EmptyData(ctx context.Context) error   { return c.empty(ctx, driver.PlaceData) }
func (c *control) EmptyLedger(ctx context.Context) error { return c.empty(ctx, driver.PlaceLedger) }

func (c *control) BatchOf(data driver.Dataset) uint64 {
	return data.InBatch(batchRecords, batchBytes)
}

func (c *control) Write(ctx context.Context, data driver.Dataset, first, limit uint64) error {
	writes := make([]clientv3.Op, 0, limit-first)
	for i := first; i < limit; i++ {
		item := data.Item(i)
		value := count(0)
		if !item.Counter {
			value = stored(item.Record, item.Value)
		}
		writes = append(writes, clientv3.OpPut(c.keys().Key(item.Verified, item.ID), value))
	}
	_, err := c.do(ctx, clientv3.OpTxn(nil, writes, nil))
	return err
}

func (c *control) Remove(ctx context.Context, _ []string) error {
	for _, place := range driver.Places() {
		if err := c.empty(ctx, place); err != nil {
			return err
		}
	}
	return nil
}

// deletedAtOnce bounds one request of many deletions, which every member does in one piece.
const deletedAtOnce = 2000

// empty removes every key of a place.
func (c *control) empty(ctx context.Context, place string) error {
	prefix := c.keys().Of(place)
	for {
		got, err := c.do(ctx, all(prefix, clientv3.WithLimit(deletedAtOnce), clientv3.WithKeysOnly()))
		if err == nil && len(got.Get().Kvs) > 0 {
			kvs := got.Get().Kvs
			end := string(kvs[len(kvs)-1].Key) + "\x00"
			_, err = c.do(ctx, clientv3.OpDelete(string(kvs[0].Key), clientv3.WithRange(end)))
		}
		if err != nil {
			return fmt.Errorf("removing the keys with the prefix %q: %w", prefix, err)
		}
		if !got.Get().More {
			return nil
		}
	}
}
