package aerospike

import (
	"context"
	"fmt"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

var _ driver.KeepsDocuments = (*Driver)(nil)

// document is the name of the set that holds a set of documents.
func (s sets) document(name string) string { return s.prefix + "-" + name }

func (s sets) documents() []string {
	names := driver.DocumentSets()
	for i, name := range names {
		names[i] = s.document(name)
	}
	return names
}

// documentKey is the key of a document: a whole number or a text.
func (s sets) documentKey(set string, id any) *client.Key {
	key, _ := client.NewKey(s.namespace, s.document(set), id) // both always are keys
	return key
}

// sendDocument does an operation on a document: its properties are bins, what is nested in
// them maps and lists.
func (d *Driver) sendDocument(c *call, op *driver.Op) (driver.Result, client.Error) {
	wanted := op.Document
	switch op.Kind {
	case driver.Read:
		_, err := d.client.Get(&c.read, c.key)
		if isCode(err, types.KEY_NOT_FOUND_ERROR) {
			return done, nil
		}
		result := done
		result.Found = err == nil
		return result, err
	case driver.Insert:
		c.write.RecordExistsAction = client.CREATE_ONLY
		return done, d.client.PutBins(&c.write, c.key, binsOf(wanted.Put)...)
	}
	c.write.RecordExistsAction = client.UPDATE
	if wanted.There {
		c.write.RecordExistsAction = client.UPDATE_ONLY
	}
	operations := operationsOf(wanted)
	_, err := d.client.Operate(&c.write, c.key, operations...)
	if wanted.There && op.Kind == driver.Increment && isCode(err, types.KEY_NOT_FOUND_ERROR) {
		c.write.RecordExistsAction = client.UPDATE
		_, err = d.client.Operate(&c.write, c.key, operations...)
		wanted.Remade = err == nil
	}
	return done, err
}

func operationsOf(wanted *driver.Document) []*client.Operation {
	operations := make([]*client.Operation, 0, len(wanted.Add)+len(wanted.Put)+len(wanted.Push))
	for _, bin := range binsOf(wanted.Add) {
		operations = append(operations, client.AddOp(bin))
	}
	for _, bin := range binsOf(wanted.Put) {
		operations = append(operations, client.PutOp(bin))
	}
	for _, push := range wanted.Push {
		operations = append(operations, client.PutOp(client.NewBin(push.Name, plainValue(push.Whole))))
	}
	return operations
}

func binsOf(properties driver.Properties) []*client.Bin {
	all := make([]*client.Bin, 0, len(properties))
	for _, property := range properties {
		value := plainValue(property.Value)
		if value != nil { // a bin without a value does not exist
			all = append(all, client.NewBin(property.Name, value))
		}
	}
	return all
}

// plainValue turns a value into the one that is stored: an amount is a float, a moment its
// text, a truth 0 or 1.
func plainValue(value any) any {
	switch v := value.(type) {
	case driver.Properties:
		fields := make(map[string]any, len(v))
		for _, property := range v {
			fields[property.Name] = plainValue(property.Value)
		}
		return fields
	case driver.Decimal:
		return float64(v) / 100
	case driver.Stamp:
		return time.Time(v).Format("2006-01-02T15:04:05.0000000-07:00")
	case bool:
		if v {
			return 1
		}
		return 0
	case []any:
		list := make([]any, len(v))
		for i, each := range v {
			list[i] = plainValue(each)
		}
		return list
	}
	return value
}

// EmptyDocuments empties every set of documents.
func (d *Driver) EmptyDocuments(ctx context.Context) error {
	return d.controlled(ctx, func(c *control) error { return c.emptyAll(ctx, c.sets.documents()...) })
}

// finder looks for documents with the control client.
type finder struct {
	*control
	config driver.Config
}

// Finder asks the masters, which ask every copy that may be newer.
func (d *Driver) Finder(ctx context.Context) (driver.Finder, error) {
	c, err := d.control(ctx)
	if err != nil {
		return nil, redacted(err, d.config)
	}
	return &finder{c, d.config}, nil
}

// Have asks a few hundred keys at a time whether they are there.
func (f *finder) Have(ctx context.Context, keys []driver.DocumentKey) ([]bool, error) {
	have := make([]bool, 0, len(keys))
	for first := 0; first < len(keys) && ctx.Err() == nil; first += readBackBatch {
		part := keys[first:min(first+readBackBatch, len(keys))]
		wanted := make([]*client.Key, len(part))
		for i, key := range part {
			wanted[i] = f.sets.documentKey(key.Set, key.ID)
		}
		there, err := f.BatchExists(f.batch, wanted)
		if err != nil {
			return nil, redacted(fmt.Errorf("looking for documents: %w", plain(err)), f.config)
		}
		have = append(have, there...)
	}
	return have, ctx.Err()
}

// Count reads one bin.
func (f *finder) Count(_ context.Context, key driver.DocumentKey, bin string) (int64, bool, error) {
	record, err := f.Get(f.read, f.sets.documentKey(key.Set, key.ID), bin)
	if isCode(err, types.KEY_NOT_FOUND_ERROR) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, redacted(fmt.Errorf("reading %s: %w", key.Set, plain(err)), f.config)
	}
	value, _ := record.Bins[bin].(int)
	return int64(value), true, nil
}
