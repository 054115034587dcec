package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valkey-io/valkey-go"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

const (
	batchRecords   = 200     // in one request to each node
	batchBytes     = 1 << 20 // of values, in the same
	controlTimeout = 30 * time.Second
	controlPause   = 100 * time.Millisecond
	// placeClient is that of clients (infra/clients/redis_cluster.py).
	placeClient = "client"
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

// control is a client for everything but the load: valkey-go, whichever the load has, retries on. It
// is there only while it is needed, so that it does not disturb the load.
func (d *Driver) control() (*control, error) {
	encryption, err := secure.Config(d.config.TLS)
	if err != nil {
		return nil, err
	}
	made, err := newValkeyGo(d, encryption, way{retries: true, writes: true}) // it asks masters
	if err != nil {
		return nil, err
	}
	return &control{d, made.Client}, nil
}

type control struct {
	*Driver
	client valkey.Client
}

func (c *control) Close() { c.client.Close() }

func (d *Driver) controlled(do func(*control) error) error {
	c, err := d.control()
	if err == nil {
		defer c.Close()
		err = do(c)
	}
	return redacted(err, d.config)
}

// all does commands that may be repeated, until each has its answer or the time-out of what is not
// part of the load is over.
func (c *control) all(ctx context.Context, commands []command, each func(i int, value any)) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	as := &valkeyClient{c.client}
	left := make([]int, len(commands))
	for i := range left {
		left[i] = i
	}
	for {
		asked := make([]command, len(left))
		for j, i := range left {
			asked[j] = commands[i]
		}
		var failed error
		var again []int
		for j, one := range as.together(ctx, asked) {
			if one.err == nil {
				each(left[j], one.value)
				continue
			}
			failed, again = one.err, append(again, left[j])
		}
		if left = again; len(left) == 0 {
			return nil
		}
		if judge(failed).final {
			return failed
		}
		select {
		case <-ctx.Done():
			return failed
		case <-time.After(controlPause):
		}
	}
}

// one does one such command.
func (c *control) one(ctx context.Context, asked command) (answer any, err error) {
	err = c.all(ctx, []command{asked}, func(_ int, value any) { answer = value })
	return answer, err
}

// scan reports the keys with a prefix, some of them perhaps twice, until each says that it is enough.
func (c *control) scan(ctx context.Context, prefix string, each func(keys []string) (enough bool, err error)) error {
	seen, err := c.lookAtSlots(ctx)
	if err != nil {
		return err
	}
	for _, of := range seen.shards {
		node, known := c.client.Nodes()[of.master]
		if !known {
			return fmt.Errorf("the master %s cannot be connected to", of.master)
		}
		for cursor := uint64(0); ; {
			ctx, cancel := context.WithTimeout(ctx, controlTimeout)
			got, err := node.Do(ctx, node.B().Scan().Cursor(cursor).Match(escaped(prefix)+"*").Count(1000).Build()).AsScanEntry()
			cancel()
			if err != nil {
				return fmt.Errorf("looking for the keys with the prefix %q: %w", prefix, err)
			}
			if len(got.Elements) > 0 {
				if enough, err := each(got.Elements); enough || err != nil {
					return err
				}
			}
			if cursor = got.Cursor; cursor == 0 {
				break
			}
		}
	}
	return nil
}

// escaped is a text as a pattern of the server that matches it alone.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}

var _ driver.Store = (*control)(nil)

func (c *control) String() string {
	return fmt.Sprintf("the namespace %q on %s", c.config.Namespace, strings.Join(c.hosts, ", "))
}

func (c *control) ReadMarker(ctx context.Context) (*driver.Marker, error) {
	got, err := c.one(ctx, read("GET", c.keys().Marker()))
	if err != nil {
		return nil, err
	}
	text, there := got.(string)
	if !there {
		return nil, nil
	}
	m := &driver.Marker{}
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil, fmt.Errorf("the key %s was not made by brownout: %w", c.keys().Marker(), err)
	}
	return m, nil
}

func (c *control) WriteMarker(ctx context.Context, m *driver.Marker) error {
	text, err := json.Marshal(m)
	if err == nil {
		_, err = c.one(ctx, write("SET", c.keys().Marker(), string(text)))
	}
	return err
}

func (c *control) Holds(ctx context.Context) (string, error) {
	const examples = 5
	var names []string
	err := c.scan(ctx, c.config.Namespace+"/", func(keys []string) (bool, error) {
		names = append(names, slices.DeleteFunc(keys, func(key string) bool {
			return key == c.keys().Claim() || strings.HasPrefix(key, c.keys().Of(placeClient))
		})...)
		return len(names) >= examples, nil
	})
	slices.Sort(names)
	return strings.Join(names[:min(examples, len(names))], ", "), err
}

func (c *control) Count(ctx context.Context, data driver.Dataset) (items, others uint64, err error) {
	keys, prefix := data.Keys, c.keys().Of(driver.PlaceData)
	there, strangers := make([]bool, keys), map[string]bool{}
	err = c.scan(ctx, prefix, func(found []string) (bool, error) {
		for _, key := range found {
			id := strings.TrimPrefix(key, prefix)
			number, err := strconv.ParseUint(strings.TrimPrefix(id, "k"), 10, 64)
			if err != nil || number >= keys || id != driver.DataID(number) {
				strangers[key] = true
			} else if !there[number] {
				there[number] = true
				items++
			}
		}
		return false, nil
	})
	return items, uint64(len(strangers)), err
}

func (c *control) EmptyData(ctx context.Context) error   { return c.empty(ctx, driver.PlaceData) }
func (c *control) EmptyLedger(ctx context.Context) error { return c.empty(ctx, driver.PlaceLedger) }

func (c *control) BatchOf(data driver.Dataset) uint64 {
	return data.InBatch(batchRecords, batchBytes)
}

func (c *control) Write(ctx context.Context, data driver.Dataset, first, limit uint64) error {
	writes := make([]command, 0, limit-first)
	for i := first; i < limit; i++ {
		item, value := data.Item(i), "0"
		if !item.Counter {
			value = stored(item.Record, item.Value)
		}
		writes = append(writes, write("SET", c.keys().Key(item.Verified, item.ID), value))
	}
	return c.all(ctx, writes, func(int, any) {})
}

func (c *control) Remove(ctx context.Context, _ []string) error {
	for _, place := range append([]string{placeClient}, driver.Places()...) {
		if err := c.empty(ctx, place); err != nil {
			return err
		}
	}
	return nil
}

// empty removes every key of a place.
func (c *control) empty(ctx context.Context, place string) error {
	prefix := c.keys().Of(place)
	err := c.scan(ctx, prefix, func(keys []string) (bool, error) {
		gone := make([]command, len(keys))
		for i, key := range keys {
			gone[i] = write("UNLINK", key)
		}
		return false, c.all(ctx, gone, func(int, any) {})
	})
	if err != nil {
		return fmt.Errorf("removing the keys with the prefix %q: %w", prefix, err)
	}
	return nil
}
