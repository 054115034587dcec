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
	markerMadeBy   = "brownout"
	markerSchema   = 1
	controlTimeout = 30 * time.Second
)

// marker is the value that says that the namespace is ours.
type marker struct {
	MadeBy  string     `json:"made_by"`
	Schema  int        `json:"schema"`
	Created time.Time  `json:"created"`
	Writer  string     `json:"writer"`            // of the latest run
	Data    *dataShape `json:"data,omitempty"`    // nil until a data set is complete
	Filling *filling   `json:"filling,omitempty"` // of one that is being written
}

// filling is a data set that is being written: the first Done items of Shape are there.
type filling struct {
	Shape dataShape `json:"shape"`
	Done  uint64    `json:"done"`
}

// dataShape tells one plain data set from another.
type dataShape struct {
	Keys       uint64 `json:"keys"`
	ValueBytes int    `json:"value_bytes"`
	Layout     string `json:"layout,omitempty"`
}

func shapeOf(data driver.Dataset) dataShape {
	return dataShape{Keys: data.Keys, ValueBytes: data.ValueBytes, Layout: data.Layout}
}

// control is a client for everything but the load: of all members, retries on. It is there only
// while it is needed, so that it does not disturb the load.
func (d *Driver) control(ctx context.Context) (*control, error) {
	client, err := d.wholeClient(ctx)
	if err != nil {
		return nil, err
	}
	return &control{d, client}, nil
}

type control struct {
	*Driver
	client *clientv3.Client
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

func (d *Driver) markerKey() string { return d.folder(folderMeta) + "brownout" }

// readMarker returns the marker, or nil if there is none.
func (c *control) readMarker(ctx context.Context) (*marker, error) {
	got, err := c.do(ctx, clientv3.OpGet(c.markerKey()))
	if err != nil {
		return nil, fmt.Errorf("reading the marker of the namespace %q: %w", c.config.Namespace, err)
	}
	kv := first(got.Get().Kvs)
	if kv == nil {
		return nil, nil
	}
	var mark marker
	if err := json.Unmarshal(kv.Value, &mark); err != nil || mark.MadeBy != markerMadeBy || mark.Schema != markerSchema {
		return nil, fmt.Errorf("%s is no marker of %s, schema %d; choose another namespace in the workload",
			c.markerKey(), markerMadeBy, markerSchema)
	}
	return &mark, nil
}

func (c *control) putMarker(ctx context.Context, mark *marker) error {
	mark.Writer = c.config.Writer
	text, err := json.Marshal(mark)
	if err == nil {
		_, err = c.do(ctx, clientv3.OpPut(c.markerKey(), string(text)))
	}
	if err != nil {
		return fmt.Errorf("writing the marker of the namespace %q: %w", c.config.Namespace, err)
	}
	return nil
}

// claim makes sure that the namespace is ours: it carries our marker, or it is empty and gets
// it. Whatever else is there is somebody's data and stays.
func (c *control) claim(ctx context.Context) (*marker, error) {
	mark, err := c.readMarker(ctx)
	if err != nil || mark != nil {
		return mark, err
	}
	if err := c.checkEmpty(ctx); err != nil {
		return nil, err
	}
	fresh := &marker{MadeBy: markerMadeBy, Schema: markerSchema, Created: time.Now().UTC()}
	return fresh, c.putMarker(ctx, fresh)
}

// checkEmpty refuses a namespace without our marker in which there is something.
func (c *control) checkEmpty(ctx context.Context) error {
	const examples = 5
	got, err := c.do(ctx, all(c.config.Namespace+"/", clientv3.WithLimit(examples), clientv3.WithKeysOnly()))
	if err != nil {
		return fmt.Errorf("looking into the namespace %q: %w", c.config.Namespace, err)
	}
	if got.Get().Count == 0 {
		return nil
	}
	names := make([]string, 0, examples)
	for _, kv := range got.Get().Kvs {
		names = append(names, string(kv.Key))
	}
	return fmt.Errorf("there are keys with the prefix %q on %s that were not made by brownout (as %s); "+
		"set `namespace` in the workload to a name of its own, or remove the keys yourself",
		c.config.Namespace+"/", strings.Join(c.hosts, ", "), strings.Join(names, ", "))
}

// checkOurs refuses a namespace that a load is to use as it is, unless an earlier load has
// made it.
func (d *Driver) checkOurs(ctx context.Context) error {
	c, err := d.control(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	mark, err := c.readMarker(ctx)
	if err != nil {
		return err
	}
	if mark != nil && mark.Data != nil {
		return nil
	}
	if mark == nil {
		if err := c.checkEmpty(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("the namespace %q on %s holds no complete data set; load one first, with "+
		"`data.load: true` in the workload", d.config.Namespace, strings.Join(d.hosts, ", "))
}

// Clean removes all of our keys, the marker last; a namespace with something in it and
// without our marker is refused.
func (d *Driver) Clean(ctx context.Context) error { return redacted(d.clean(ctx), d.config) }

func (d *Driver) clean(ctx context.Context) error {
	c, err := d.control(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	mark, err := c.readMarker(ctx)
	if err == nil && mark == nil {
		err = c.checkEmpty(ctx)
	}
	if err != nil || mark == nil {
		return err
	}
	ours := []string{folderData, folderLedger, folderCanary}
	for _, folder := range append(ours, append(driver.DocumentSets(), folderMeta)...) {
		if err := c.empty(ctx, c.folder(folder)); err != nil {
			return err
		}
	}
	return nil
}

// deletedAtOnce bounds one request of many deletions, which every member does in one piece.
const deletedAtOnce = 2000

// empty removes every key with a prefix.
func (c *control) empty(ctx context.Context, prefix string) error {
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
