package couchbase

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/couchbase/gocb/v2"

	"brownout/loadgen/driver"
)

const (
	batchRecords   = 200     // at once
	batchBytes     = 1 << 20 // of values, at once
	controlTimeout = 30 * time.Second
	listTimeout    = 5 * time.Minute // a view is made of all keys when it is first asked
)

// Load claims the namespace and writes the data set, as [driver.Load] says.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	return d.controlled(func(c *control) error { return driver.Load(ctx, c, data, progress) })
}

// Clean removes all of our keys, and refuses those of others.
func (d *Driver) Clean(ctx context.Context) error {
	return d.controlled(func(c *control) error { return driver.Clean(ctx, c) })
}

func (d *Driver) checkLoaded(ctx context.Context) error {
	return d.controlled(func(c *control) error { return driver.CheckLoaded(ctx, c) })
}

// control is a client for everything but the load, retries on. It is there only while it is needed, so
// that it does not disturb the load.
type control struct {
	*Driver
	*connection
}

func (d *Driver) control() (*control, error) {
	made, err := d.connect()
	if err != nil {
		return nil, err
	}
	return &control{d, made}, nil
}

func (c *control) Close() { c.connection.close() }

func (d *Driver) controlled(do func(*control) error) error {
	c, err := d.control()
	if err == nil {
		defer c.Close()
		err = do(c)
	}
	return redacted(err, d.config)
}

// together does operations at once, of which each has an error of its own.
func (c *control) together(ctx context.Context, operations []gocb.BulkOp) error {
	return c.connection.Do(operations, &gocb.BulkOpOptions{Timeout: controlTimeout, Transcoder: raw{}, Context: ctx})
}

// list returns the keys that begin so, as the cluster has them when it is asked. The key-value service
// of Couchbase names no keys, but a view does, which has to be made for that.
func (c *control) list(ctx context.Context, prefix string) ([]string, error) {
	const view = "keys"
	emit := fmt.Sprintf("function (doc, meta) { if (meta.id.indexOf(%s) === 0) { emit(meta.id, null); } }",
		driver.JSON(c.config.Namespace+"/"))
	design := gocb.DesignDocument{Name: c.design(), Views: map[string]gocb.View{view: {Map: emit}}}
	err := c.bucket.ViewIndexes().UpsertDesignDocument(design, gocb.DesignDocumentNamespaceProduction,
		&gocb.UpsertDesignDocumentOptions{Timeout: controlTimeout, Context: ctx})
	if err != nil {
		return nil, fmt.Errorf("making the view %q, which lists keys: %w", design.Name, err)
	}
	rows, err := c.bucket.ViewQuery(design.Name, view, &gocb.ViewOptions{
		ScanConsistency: gocb.ViewScanConsistencyRequestPlus, Namespace: gocb.DesignDocumentNamespaceProduction,
		Timeout: listTimeout, Context: ctx,
	})
	if err != nil {
		return nil, fmt.Errorf("listing keys by the view %q: %w", design.Name, err)
	}
	var keys []string
	for rows.Next() {
		if key := rows.Row().ID; strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing keys by the view %q: %w", design.Name, err)
	}
	return keys, nil
}

// design is the name of the design document.
func (c *control) design() string { return "brownout-" + c.config.Namespace }

var _ driver.Store = (*control)(nil)

func (c *control) String() string {
	return fmt.Sprintf("the namespace %q in the bucket %q on %s", c.config.Namespace, c.policy.Bucket, strings.Join(c.hosts, ", "))
}

func (c *control) ReadMarker(ctx context.Context) (*driver.Marker, error) {
	got, err := c.Get(c.keys().Marker(), &gocb.GetOptions{Timeout: controlTimeout, Transcoder: raw{}, Context: ctx})
	one, err := found(got, err)
	if err != nil || one == nil {
		return nil, err
	}
	m := &driver.Marker{}
	if err := json.Unmarshal(one.value, m); err != nil {
		return nil, fmt.Errorf("the key %s was not made by brownout: %w", c.keys().Marker(), err)
	}
	return m, nil
}

func (c *control) WriteMarker(ctx context.Context, m *driver.Marker) error {
	_, err := c.Upsert(c.keys().Marker(), []byte(driver.JSON(m)),
		&gocb.UpsertOptions{Timeout: controlTimeout, Transcoder: raw{}, Context: ctx})
	return err
}

func (c *control) Holds(ctx context.Context) (string, error) {
	const examples = 5
	names, err := c.list(ctx, c.config.Namespace+"/")
	names = slices.DeleteFunc(names, func(key string) bool { return key == c.keys().Claim() })
	slices.Sort(names)
	return strings.Join(names[:min(examples, len(names))], ", "), err
}

func (c *control) Count(ctx context.Context, data driver.Dataset) (items, others uint64, err error) {
	prefix := c.keys().Of(driver.PlaceData)
	keys, err := c.list(ctx, prefix)
	for _, key := range keys {
		id := strings.TrimPrefix(key, prefix)
		number, err := strconv.ParseUint(strings.TrimPrefix(id, "k"), 10, 64)
		if err == nil && number < data.Keys && id == driver.DataID(number) {
			items++
		} else {
			others++
		}
	}
	return items, others, err
}

func (c *control) EmptyData(ctx context.Context) error   { return c.empty(ctx, driver.PlaceData) }
func (c *control) EmptyLedger(ctx context.Context) error { return c.empty(ctx, driver.PlaceLedger) }

func (c *control) BatchOf(data driver.Dataset) uint64 {
	return data.InBatch(batchRecords, batchBytes)
}

func (c *control) Write(ctx context.Context, data driver.Dataset, first, limit uint64) error {
	writes := make([]gocb.BulkOp, 0, limit-first)
	for i := first; i < limit; i++ {
		one, value := data.Item(i), count(0)
		if !one.Counter {
			value = stored(one.Record, one.Value)
		}
		writes = append(writes, &gocb.UpsertOp{ID: c.keys().Key(one.Verified, one.ID), Value: value})
	}
	err := c.together(ctx, writes)
	for _, write := range writes {
		err = errors.Join(err, write.(*gocb.UpsertOp).Err)
	}
	return err
}

// Remove takes the marker away at last, and the design document after it.
func (c *control) Remove(ctx context.Context, _ []string) error {
	if err := c.empty(ctx, driver.Places()...); err != nil {
		return err
	}
	err := c.bucket.ViewIndexes().DropDesignDocument(c.design(), gocb.DesignDocumentNamespaceProduction,
		&gocb.DropDesignDocumentOptions{Timeout: controlTimeout, Context: ctx})
	if errors.Is(err, gocb.ErrDesignDocumentNotFound) {
		return nil
	}
	return err
}

// empty removes every key of some places, one place after the other.
func (c *control) empty(ctx context.Context, places ...string) error {
	keys, err := c.list(ctx, c.config.Namespace+"/")
	if err != nil {
		return err
	}
	for _, place := range places {
		prefix, its := c.keys().Of(place), []string{}
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				its = append(its, key)
			}
		}
		for part := range slices.Chunk(its, batchRecords) {
			if err := c.remove(ctx, part); err != nil {
				return fmt.Errorf("removing the keys with the prefix %q: %w", prefix, err)
			}
		}
	}
	return nil
}

func (c *control) remove(ctx context.Context, keys []string) error {
	gone := make([]gocb.BulkOp, len(keys))
	for i, key := range keys {
		gone[i] = &gocb.RemoveOp{ID: key}
	}
	err := c.together(ctx, gone)
	for _, one := range gone {
		if failed := one.(*gocb.RemoveOp).Err; !errors.Is(failed, gocb.ErrDocumentNotFound) {
			err = errors.Join(err, failed)
		}
	}
	return err
}
