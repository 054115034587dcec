package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"brownout/loadgen/driver"
)

// writeKnown writes only where what is known to be stored is stored: the filter has the sequence,
// or the counter's value, and nothing is made that is missing. A write that matched nothing is
// looked into at once.
func writeKnown(
	ctx context.Context, op *driver.Op, records *mongo.Collection, seen *attempts,
) driver.Result {
	result, matched := changeKnown(ctx, op, records, seen)
	if matched {
		return result
	}
	sent := seen.sent
	result = driver.Refused(op, look(ctx, op, records))
	result.Attempts = sent
	return result
}

// changeKnown is the write itself. Where more than one content is possible it takes back which one
// it found.
func changeKnown(
	ctx context.Context, op *driver.Op, records *mongo.Collection, seen *attempts,
) (result driver.Result, matched bool) {
	known := op.Known
	switch {
	case known.Create:
		fresh := counter(op.ID, 1)
		if op.Kind != driver.Increment {
			fresh = whole(op)
		}
		_, err := records.InsertOne(ctx, fresh)
		return classify(err, op.Kind, *seen), !mongo.IsDuplicateKeyError(err)
	case !known.Sure():
		raw, err := changeUnsure(ctx, op, records)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return result, false
		}
		result = classify(err, op.Kind, *seen)
		if before, ok := raw.Lookup(knownField(op)).AsInt64OK(); err == nil && ok {
			result.Before = &before
		}
		return result, true
	case op.Kind == driver.Operate:
		raw, err := records.FindOneAndReplace(ctx, ifKnown(op), whole(op), after()).Raw()
		if errors.Is(err, mongo.ErrNoDocuments) {
			return result, false
		}
		return exchanged(op, raw, classify(err, op.Kind, *seen)), true
	}
	done, err := changeSure(ctx, op, records)
	return classify(err, op.Kind, *seen), err != nil || done.MatchedCount > 0
}

func changeSure(ctx context.Context, op *driver.Op, records *mongo.Collection) (*mongo.UpdateResult, error) {
	if op.Kind == driver.Increment {
		return records.UpdateOne(ctx, ifKnown(op), addOne)
	}
	return records.ReplaceOne(ctx, ifKnown(op), whole(op))
}

func changeUnsure(ctx context.Context, op *driver.Op, records *mongo.Collection) (bson.Raw, error) {
	field := bson.D{{Key: knownField(op), Value: 1}}
	if op.Kind == driver.Increment {
		before := options.FindOneAndUpdate().SetReturnDocument(options.Before).SetProjection(field)
		return records.FindOneAndUpdate(ctx, ifKnown(op), addOne, before).Raw()
	}
	before := options.FindOneAndReplace().SetReturnDocument(options.Before).SetProjection(field)
	return records.FindOneAndReplace(ctx, ifKnown(op), whole(op), before).Raw()
}

func knownField(op *driver.Op) string {
	if op.Kind == driver.Increment {
		return "n"
	}
	return "s"
}

// ifKnown is the filter of a write with a condition.
func ifKnown(op *driver.Op) bson.D {
	filter, known := byID(op.ID), op.Known
	if op.Kind != driver.Increment {
		filter = append(filter, bson.E{Key: "w", Value: op.Record.Writer})
	}
	if known.Sure() {
		return append(filter, bson.E{Key: knownField(op), Value: known.First})
	}
	between := bson.D{{Key: "$gte", Value: known.First}, {Key: "$lte", Value: known.Last}}
	return append(filter, bson.E{Key: knownField(op), Value: between})
}

// look reads what is stored from a primary that proves to be one still; nil if there was none in
// the time that is left.
func look(ctx context.Context, op *driver.Op, records *mongo.Collection) *driver.ReadBack {
	proven := options.Collection().SetReadConcern(readconcern.Linearizable()).SetReadPreference(readpref.Primary())
	raw, err := records.Database().Collection(records.Name(), proven).FindOne(ctx, byID(op.ID)).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return &driver.ReadBack{ID: op.ID, Missing: true}
	}
	if err != nil {
		return nil
	}
	back := takeApart(raw).ReadBack(op.ID, op.Kind == driver.Increment)
	return &back
}
