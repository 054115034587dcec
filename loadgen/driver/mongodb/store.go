package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"brownout/loadgen/driver"
)

const (
	batchRecords   = 1000
	batchBytes     = 4 << 20
	duplicateKey   = 11000
	controlTimeout = 30 * time.Second
)

// Load claims the database and writes the data set as [driver.Load] says, all of it acknowledged by
// the majority.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	return d.controlled(func(c *control) error {
		err := driver.Load(ctx, c, data, progress)
		if err != nil || d.shards == nil || data.Step == driver.LoadBegin {
			return err
		}
		if err := d.shards.refresh(ctx); err != nil {
			return fmt.Errorf("reading which shard has which chunk: %w", err)
		}
		return nil
	})
}

// Clean drops all of our collections, and refuses a database of others.
func (d *Driver) Clean(ctx context.Context) error {
	return d.controlled(func(c *control) error { return driver.Clean(ctx, c) })
}

func (d *Driver) checkLoaded(ctx context.Context) error {
	return d.controlled(func(c *control) error { return driver.CheckLoaded(ctx, c) })
}

// control is our database through a client for everything but the load: w: majority, retries on. It
// is there only while it is needed, so that it does not disturb the load.
type control struct {
	*mongo.Database
	driver *Driver
}

func (d *Driver) control() (*control, error) {
	o, err := clientOptions(d.config, d.policy, true)
	if err != nil {
		return nil, err
	}
	o.SetTimeout(controlTimeout).
		SetWriteConcern(writeconcern.Majority()).
		SetReadConcern(readconcern.Majority()).
		SetReadPreference(readpref.Primary())
	connected, err := mongo.Connect(o)
	if err != nil {
		return nil, err
	}
	return &control{connected.Database(d.config.Namespace), d}, nil
}

func (d *Driver) controlled(do func(*control) error) error {
	c, err := d.control()
	if err == nil {
		defer c.Close()
		err = do(c)
	}
	return redacted(err, d.config)
}

func (c *control) Close() { closeClient(c.Client()) }

var _ driver.Store = (*control)(nil)

func (c *control) String() string {
	return fmt.Sprintf("the database %q on %s", c.Name(), strings.Join(c.driver.hosts, ", "))
}

func (c *control) ReadMarker(ctx context.Context) (*driver.Marker, error) {
	m := &driver.Marker{}
	err := c.Collection(collectionMeta).FindOne(ctx, byID(driver.MarkerID)).Decode(m)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	return m, err
}

func (c *control) WriteMarker(ctx context.Context, m *driver.Marker) error {
	_, err := c.Collection(collectionMeta).ReplaceOne(ctx, byID(driver.MarkerID), m, options.Replace().SetUpsert(true))
	return err
}

// touchMarker writes to the majority: what is read afterwards in the same session is at least as new.
func (c *control) touchMarker(ctx context.Context) error {
	touch := bson.D{{Key: "$set", Value: bson.D{{Key: "verified_by", Value: c.driver.config.Writer}}}}
	if _, err := c.Collection(collectionMeta).UpdateOne(ctx, byID(driver.MarkerID), touch); err != nil {
		return fmt.Errorf("writing to the majority before the read-back: %w", err)
	}
	return nil
}

// Holds leaves out our collections that are empty: they may have been made for us.
func (c *control) Holds(ctx context.Context) (string, error) {
	collections, err := c.ListCollectionNames(ctx, bson.D{})
	var names []string
	for _, name := range collections {
		empty := name == collectionClaim || strings.HasPrefix(name, collectionsOfClients)
		if err == nil && !empty && slices.Contains(ours(), name) {
			err = c.Collection(name).FindOne(ctx, bson.D{}).Err()
			if empty = errors.Is(err, mongo.ErrNoDocuments); empty {
				err = nil
			}
		}
		if !empty {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names[:min(len(names), 5)], ", "), err
}

// Count counts instead of estimating: a server's estimate is off after a crash.
func (c *control) Count(ctx context.Context, data driver.Dataset) (items, others uint64, err error) {
	count := func(filter bson.D) uint64 {
		n, failed := c.Collection(collectionData).CountDocuments(ctx, filter)
		if failed != nil {
			err = fmt.Errorf("counting the data set: %w", failed)
		}
		return uint64(n)
	}
	items = count(bson.D{{Key: "_id", Value: bson.D{
		{Key: "$gte", Value: driver.DataID(0)},
		{Key: "$lte", Value: driver.DataID(max(data.Keys, 1) - 1)},
	}}})
	return items, count(bson.D{}) - items, err
}

func (c *control) EmptyData(ctx context.Context) error   { return c.empty(ctx, collectionData) }
func (c *control) EmptyLedger(ctx context.Context) error { return c.empty(ctx, collectionLedger) }

// empty leaves nothing of a collection; on a sharded cluster one that we have made is sharded again.
func (c *control) empty(ctx context.Context, name string) error {
	m, err := c.ReadMarker(ctx)
	if err != nil || m == nil {
		return err
	}
	if err := c.takeAway(ctx, name, m.Made); err != nil {
		return err
	}
	if c.driver.shards != nil && slices.Contains(m.Made, name) {
		return shard(ctx, c.Database, name)
	}
	return nil
}

func (c *control) drop(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := c.Collection(name).Drop(ctx); err != nil {
			return fmt.Errorf("dropping %s.%s: %w", c.Name(), name, err)
		}
	}
	return nil
}

func (c *control) BatchOf(data driver.Dataset) uint64 {
	return data.InBatch(batchRecords, batchBytes)
}

// Write leaves plain documents that are there already. The ledger has none.
func (c *control) Write(ctx context.Context, data driver.Dataset, first, limit uint64) error {
	documents := make([]any, 0, limit-first)
	for i := first; i < limit; i++ {
		documents = append(documents, stored(data.Item(i)))
	}
	name := collectionOf(first >= data.Keys)
	_, err := c.Collection(name).InsertMany(ctx, documents, options.InsertMany().SetOrdered(false))
	if name == collectionData {
		return withoutDuplicates(err)
	}
	return err
}

// withoutDuplicates forgives that records were there already, and nothing else.
func withoutDuplicates(err error) error {
	var failed mongo.BulkWriteException
	if !errors.As(err, &failed) || failed.WriteConcernError != nil {
		return err
	}
	for _, one := range failed.WriteErrors {
		if one.Code != duplicateKey {
			return err
		}
	}
	return nil
}

func stored(item driver.Item) bson.D {
	if item.Counter {
		return counter(item.ID, 0)
	}
	return document(item.ID, item.Record, item.Value, item.Fields)
}

// ours are our collections, the marker's last.
func ours() []string {
	return append(driver.DocumentSets(), collectionData, collectionLedger, collectionClaim, collectionMeta)
}

// Missing are all of our collections that are not there: the server makes one with its first document.
func (c *control) Missing(ctx context.Context) ([]string, error) {
	there, err := c.ListCollectionNames(ctx, bson.D{})
	return slices.DeleteFunc(ours(), func(name string) bool { return slices.Contains(there, name) }), err
}

// Remove only empties what others have made for us.
func (c *control) Remove(ctx context.Context, made []string) error {
	names, err := c.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return err
	}
	theirs := slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, collectionsOfClients) })
	if err := c.drop(ctx, theirs...); err != nil {
		return err
	}
	for _, name := range ours() {
		if err := c.takeAway(ctx, name, made); err != nil {
			return err
		}
	}
	return nil
}

// takeAway drops a collection that we have made, and empties one that others have made for us.
func (c *control) takeAway(ctx context.Context, name string, made []string) error {
	if name == collectionClaim || slices.Contains(made, name) {
		return c.drop(ctx, name)
	}
	if _, err := c.Collection(name).DeleteMany(ctx, bson.D{}); err != nil {
		return fmt.Errorf("emptying %s.%s: %w", c.Name(), name, err)
	}
	return nil
}
