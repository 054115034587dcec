package aerospike

import (
	"context"
	"fmt"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

const (
	markerID = "brownout"
	// markerCopies lie in different partitions: experiments lose some.
	markerCopies = 16
)

// markerBins is what a copy of the marker holds; the latest copy has the highest stamp.
func markerBins(m *driver.Marker, stamp time.Time) client.BinMap {
	b := client.BinMap{
		"made_by": m.MadeBy, "schema": m.Schema, "created": m.Created.UnixNano(), "stamp": stamp.UnixNano(), "writer": m.Writer,
	}
	if m.Data != nil {
		b["keys"], b["value_bytes"], b["layout"] = int(m.Data.Keys), m.Data.ValueBytes, m.Data.Layout
	}
	if m.Filling != nil {
		shape := m.Filling.Shape
		b["fill_keys"], b["fill_bytes"], b["fill_layout"] = int(shape.Keys), shape.ValueBytes, shape.Layout
		b["filled"] = int(m.Filling.Done)
	}
	return b
}

func markerFrom(b client.BinMap) (m *driver.Marker, stamp int) {
	number := func(bin string) int {
		n, _ := b[bin].(int)
		return n
	}
	text := func(bin string) string {
		t, _ := b[bin].(string)
		return t
	}
	shape := func(keys, valueBytes, layout string) driver.Shape {
		return driver.Shape{Keys: uint64(max(0, number(keys))), ValueBytes: number(valueBytes), Layout: text(layout)}
	}
	m = &driver.Marker{MadeBy: text("made_by"), Schema: number("schema"), Writer: text("writer")}
	m.Created = time.Unix(0, int64(number("created"))).UTC()
	if _, has := b["keys"]; has {
		data := shape("keys", "value_bytes", "layout")
		m.Data = &data
	}
	if _, has := b["filled"]; has {
		m.Filling = &driver.Filling{
			Shape: shape("fill_keys", "fill_bytes", "fill_layout"), Done: uint64(max(0, number("filled"))),
		}
	}
	return m, number("stamp")
}

func (c *control) markerKey(copyOf int) *client.Key {
	return c.key(c.sets.meta, fmt.Sprintf("%s-%d", markerID, copyOf))
}

func (c *control) ReadMarker(context.Context) (latest *driver.Marker, err error) {
	newest := 0
	for i := range markerCopies {
		record, err := c.Get(c.read, c.markerKey(i))
		if isCode(err, types.KEY_NOT_FOUND_ERROR) {
			continue
		}
		if err != nil {
			return nil, plain(err)
		}
		if m, stamp := markerFrom(record.Bins); latest == nil || stamp > newest {
			latest, newest = m, stamp
		}
	}
	return latest, nil
}

func (c *control) WriteMarker(_ context.Context, m *driver.Marker) error {
	bins := markerBins(m, time.Now())
	for i := range markerCopies {
		if err := c.Put(c.write, c.markerKey(i), bins); err != nil {
			return plain(err)
		}
	}
	return nil
}
