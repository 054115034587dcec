package aerospike

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

const (
	markerID     = "brownout"
	markerMadeBy = "brownout"
	markerSchema = 1
	// markerCopies lie in different partitions: experiments lose some.
	markerCopies = 16
)

// marker is the record in `…-meta` that says that the sets are ours.
type marker struct {
	MadeBy  string
	Schema  int
	Created int64 // Unix ns
	Stamp   int64 // Unix ns, of the latest change
	Writer  string
	Data    *dataShape // nil until a data set is complete
	Filling *filling   // a data set that is being written
}

// dataShape tells one plain data set from another.
type dataShape struct {
	Keys, ValueBytes int
	Layout           string
}

// filling tells that the first Done items of a data set are there.
type filling struct {
	Shape dataShape
	Done  int
}

func shapeOf(data driver.Dataset) dataShape {
	return dataShape{Keys: int(data.Keys), ValueBytes: data.ValueBytes, Layout: data.Layout}
}

func (m *marker) bins() client.BinMap {
	b := client.BinMap{
		"made_by": m.MadeBy, "schema": m.Schema, "created": m.Created, "stamp": m.Stamp, "writer": m.Writer,
	}
	if m.Data != nil {
		b["keys"], b["value_bytes"], b["layout"] = m.Data.Keys, m.Data.ValueBytes, m.Data.Layout
	}
	if m.Filling != nil {
		shape := m.Filling.Shape
		b["fill_keys"], b["fill_bytes"], b["fill_layout"] = shape.Keys, shape.ValueBytes, shape.Layout
		b["filled"] = m.Filling.Done
	}
	return b
}

func markerFrom(b client.BinMap) *marker {
	m := &marker{}
	m.MadeBy, _ = b["made_by"].(string)
	m.Schema, _ = b["schema"].(int)
	m.Writer, _ = b["writer"].(string)
	created, _ := b["created"].(int)
	stamp, _ := b["stamp"].(int)
	m.Created, m.Stamp = int64(created), int64(stamp)
	keys, hasKeys := b["keys"].(int)
	size, hasSize := b["value_bytes"].(int)
	if hasKeys && hasSize {
		layout, _ := b["layout"].(string)
		m.Data = &dataShape{Keys: keys, ValueBytes: size, Layout: layout}
	}
	if done, isFilling := b["filled"].(int); isFilling {
		m.Filling = &filling{Done: done}
		m.Filling.Shape.Keys, _ = b["fill_keys"].(int)
		m.Filling.Shape.ValueBytes, _ = b["fill_bytes"].(int)
		m.Filling.Shape.Layout, _ = b["fill_layout"].(string)
	}
	return m
}

func (c *control) markerKey(copyOf int) *client.Key {
	return c.key(c.sets.meta, fmt.Sprintf("%s-%d", markerID, copyOf))
}

// readMarker returns the latest copy of the marker, or nil if there is none.
func (c *control) readMarker() (*marker, error) {
	var latest *marker
	for i := range markerCopies {
		record, err := c.Get(c.read, c.markerKey(i))
		if isCode(err, types.KEY_NOT_FOUND_ERROR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the marker in %s.%s: %w", c.sets.namespace, c.sets.meta, plain(err))
		}
		if m := markerFrom(record.Bins); latest == nil || m.Stamp > latest.Stamp {
			latest = m
		}
	}
	if latest != nil && (latest.MadeBy != markerMadeBy || latest.Schema != markerSchema) {
		return nil, fmt.Errorf("the set %s.%s carries the marker of %q, schema %d (wanted %s, schema %d); "+
			"choose another namespace in the workload", c.sets.namespace, c.sets.meta,
			latest.MadeBy, latest.Schema, markerMadeBy, markerSchema)
	}
	return latest, nil
}

func (c *control) putMarker(m *marker, writer string) error {
	m.Writer, m.Stamp = writer, time.Now().UnixNano()
	for i := range markerCopies {
		if err := c.Put(c.write, c.markerKey(i), m.bins()); err != nil {
			return fmt.Errorf("writing the marker in %s.%s: %w", c.sets.namespace, c.sets.meta, plain(err))
		}
	}
	return nil
}

// claim makes sure that the sets are ours: they carry our marker, or are empty and
// get it. Whatever else is there is somebody's data and stays.
func (c *control) claim(writer string) (*marker, error) {
	found, err := c.readMarker()
	if err != nil || found != nil {
		return found, err
	}
	if err := c.checkEmpty(); err != nil {
		return nil, err
	}
	fresh := &marker{MadeBy: markerMadeBy, Schema: markerSchema, Created: time.Now().UnixNano()}
	return fresh, c.putMarker(fresh, writer)
}

// checkEmpty refuses sets of our names without our marker in which there is something.
func (c *control) checkEmpty() error {
	counts, err := c.counts()
	if err != nil || len(counts) == 0 {
		return err
	}
	var holds []string
	for set, n := range counts {
		holds = append(holds, fmt.Sprintf("%s: %d", set, n))
	}
	slices.Sort(holds)
	return fmt.Errorf("the sets of the namespace %q on %s were not made by brownout (records, all copies: %s); "+
		"set `namespace` in the workload to a name of its own, or remove the sets yourself",
		c.sets.namespace, c.where, strings.Join(holds, ", "))
}

// checkOurs refuses sets that a load is to use as they are, unless an earlier load
// has made them.
func (d *Driver) checkOurs(ctx context.Context) error {
	c, err := d.control(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	found, err := c.readMarker()
	if err != nil {
		return err
	}
	if found != nil && found.Data != nil {
		return nil
	}
	if found == nil {
		if err := c.checkEmpty(); err != nil {
			return err
		}
	}
	return fmt.Errorf("the set %s.%s on %s holds no complete data set; load one first, with `data.load: true` "+
		"in the workload", c.sets.namespace, c.sets.data, c.where)
}

// Clean empties our sets, the marker's last; sets with something in them and
// without our marker are refused.
func (d *Driver) Clean(ctx context.Context) error {
	c, err := d.control(ctx)
	if err != nil {
		return redacted(err, d.config)
	}
	defer c.Close()
	found, err := c.readMarker()
	if err == nil && found == nil {
		err = c.checkEmpty()
	}
	if err != nil || found == nil {
		return redacted(err, d.config)
	}
	for _, set := range c.sets.all() {
		if err := c.empty(ctx, set); err != nil {
			return redacted(err, d.config)
		}
	}
	return nil
}
