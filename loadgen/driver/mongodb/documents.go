package mongodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
)

var _ driver.KeepsDocuments = (*Driver)(nil)

// doDocument does an operation on a document, in the collection of that set's name.
func (d *Driver) doDocument(ctx context.Context, op *driver.Op, seen *attempts) driver.Result {
	wanted := op.Document
	documents := d.streams[op.Stream].of(op.Kind).data.Database().Collection(wanted.Set)
	if op.Kind == driver.Read {
		return readDocument(ctx, documents, wanted, seen)
	}
	err := writeDocument(ctx, documents, op.Kind, wanted)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return driver.Result{
			Class: driver.Failed, Cause: driver.CauseNotFound, Code: "no match", Sent: true, Attempts: seen.sent,
		}
	}
	result := classify(err, op.Kind, *seen)
	if wanted.Remade {
		result.Attempts--
	}
	return result
}

func readDocument(
	ctx context.Context, documents *mongo.Collection, wanted *driver.Document, seen *attempts,
) driver.Result {
	_, err := documents.FindOne(ctx, byAnyID(wanted.ID)).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return driver.Result{Class: driver.OK, Sent: true, Attempts: seen.sent}
	}
	result := classify(err, driver.Read, *seen)
	result.Found = err == nil
	return result
}

func writeDocument(
	ctx context.Context, documents *mongo.Collection, kind driver.Kind, wanted *driver.Document,
) error {
	if kind == driver.Insert {
		_, err := documents.InsertOne(ctx, append(byAnyID(wanted.ID), fieldsOf(wanted.Put)...))
		return err
	}
	change := bson.D{}
	if len(wanted.Add) > 0 {
		change = append(change, bson.E{Key: "$inc", Value: fieldsOf(wanted.Add)})
	}
	if len(wanted.Put) > 0 {
		change = append(change, bson.E{Key: "$set", Value: fieldsOf(wanted.Put)})
	}
	if len(wanted.Push) > 0 {
		change = append(change, bson.E{Key: "$push", Value: pushes(wanted.Push)})
	}
	done, err := documents.UpdateOne(ctx, byAnyID(wanted.ID), change, options.UpdateOne().SetUpsert(!wanted.There))
	if err != nil || !wanted.There || done.MatchedCount > 0 {
		return err
	}
	if kind != driver.Increment {
		return mongo.ErrNoDocuments
	}
	_, err = documents.UpdateOne(ctx, byAnyID(wanted.ID), change, options.UpdateOne().SetUpsert(true))
	wanted.Remade = err == nil
	return err
}

func pushes(all []driver.Push) bson.D {
	d := make(bson.D, 0, len(all))
	for _, push := range all {
		how := bson.D{
			{Key: "$each", Value: valueOf(push.Values)},
			{Key: "$position", Value: 0},
			{Key: "$slice", Value: push.Keep},
		}
		d = append(d, bson.E{Key: push.Name, Value: how})
	}
	return d
}

func byAnyID(id any) bson.D { return bson.D{{Key: "_id", Value: id}} }

func fieldsOf(properties driver.Properties) bson.D {
	d := make(bson.D, 0, len(properties)+1)
	for _, property := range properties {
		d = append(d, bson.E{Key: property.Name, Value: valueOf(property.Value)})
	}
	return d
}

// ticksPerSecond and epochTicks are those of .NET, whose drivers store a moment with its
// offset as [ticks since the year 1, minutes of the offset].
const (
	ticksPerSecond = 10_000_000
	epochTicks     = 621_355_968_000_000_000
)

// valueOf turns a value into the one that is stored: an amount is a Decimal128.
func valueOf(value any) any {
	switch v := value.(type) {
	case driver.Properties:
		return fieldsOf(v)
	case driver.Decimal:
		return decimal(v)
	case driver.Stamp:
		at := time.Time(v)
		_, offset := at.Zone()
		ticks := at.Unix()*ticksPerSecond + int64(at.Nanosecond()/100) + int64(offset)*ticksPerSecond + epochTicks
		return bson.A{ticks, int32(offset / 60)}
	case []any:
		list := make(bson.A, len(v))
		for i, each := range v {
			list[i] = valueOf(each)
		}
		return list
	}
	return value
}

// decimal is an amount as IEEE 754-2008 decimal128, binary encoding, with the exponent -2:
// the biased exponent 6176-2 stands above the 49 highest bits of the coefficient.
func decimal(hundredths driver.Decimal) bson.Decimal128 {
	const exponent = uint64(6176-2) << 49
	if hundredths < 0 {
		return bson.NewDecimal128(1<<63|exponent, uint64(-hundredths))
	}
	return bson.NewDecimal128(exponent, uint64(hundredths))
}

// EmptyDocuments removes every document.
func (d *Driver) EmptyDocuments(ctx context.Context) error {
	return d.controlled(func(c *control) error {
		m, err := c.ReadMarker(ctx)
		if err != nil || m == nil {
			return err
		}
		for _, name := range driver.DocumentSets() {
			if err := c.takeAway(ctx, name, m.Made); err != nil {
				return err
			}
		}
		return nil
	})
}

// finder looks for documents with the control client, in one session.
type finder struct {
	*control
	session *mongo.Session
}

// Finder writes to the majority first: what it finds is at least as new.
func (d *Driver) Finder(ctx context.Context) (driver.Finder, error) {
	c, err := d.control()
	if err != nil {
		return nil, redacted(err, d.config)
	}
	session, err := c.Client().StartSession()
	if err == nil {
		err = c.touchMarker(mongo.NewSessionContext(ctx, session))
	}
	if err != nil {
		c.Close()
		return nil, redacted(err, d.config)
	}
	return &finder{c, session}, nil
}

// Have asks for the ids alone, set by set.
func (f *finder) Have(ctx context.Context, keys []driver.DocumentKey) ([]bool, error) {
	ctx = mongo.NewSessionContext(ctx, f.session)
	wanted := map[string][]any{}
	for _, key := range keys {
		wanted[key.Set] = append(wanted[key.Set], key.ID)
	}
	found := map[driver.DocumentKey]bool{}
	for set, ids := range wanted {
		if err := f.collect(ctx, set, ids, found); err != nil {
			return nil, redacted(fmt.Errorf("looking for documents in %s: %w", set, err), f.driver.config)
		}
	}
	have := make([]bool, len(keys))
	for i, key := range keys {
		have[i] = found[key]
	}
	return have, nil
}

func (f *finder) collect(ctx context.Context, set string, ids []any, found map[driver.DocumentKey]bool) error {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
	onlyIDs := options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}})
	cursor, err := f.Collection(set).Find(ctx, filter, onlyIDs)
	if err != nil {
		return err
	}
	defer cursor.Close(ctx)
	for cursor.Next(ctx) {
		if id, ok := cursor.Current.Lookup("_id").AsInt64OK(); ok {
			found[driver.DocumentKey{Set: set, ID: id}] = true
		} else if id, ok := cursor.Current.Lookup("_id").StringValueOK(); ok {
			found[driver.DocumentKey{Set: set, ID: id}] = true
		}
	}
	return cursor.Err()
}

// Count reads one field.
func (f *finder) Count(ctx context.Context, key driver.DocumentKey, field string) (int64, bool, error) {
	ctx = mongo.NewSessionContext(ctx, f.session)
	raw, err := f.Collection(key.Set).FindOne(ctx, byAnyID(key.ID)).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, redacted(fmt.Errorf("reading %s: %w", key.Set, err), f.driver.config)
	}
	value, _ := raw.Lookup(field).AsInt64OK()
	return value, true, nil
}
