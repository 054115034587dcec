package mongodb

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
)

// Do does one operation; ctx carries its deadline, which is also the only
// socket time-out and, as maxTimeMS, the server's own limit.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	ctx, seen := withAttempts(ctx)
	if op.Document != nil {
		return d.doDocument(ctx, op, seen)
	}
	records := d.streams[op.Stream].of(op.Kind).records(op.Verified)
	if op.Known != nil {
		return writeKnown(ctx, op, records, seen)
	}
	switch op.Kind {
	case driver.Read:
		return d.read(ctx, op, records, seen)
	case driver.Batch:
		return d.readAll(ctx, op, records, seen)
	case driver.Operate:
		return exchange(ctx, op, records, seen)
	}
	remade, err := write(ctx, op, records)
	result := classify(err, op.Kind, *seen)
	if result.Remade = remade; remade {
		result.Attempts-- // the first command wrote nothing
	}
	return result
}

func (d *Driver) read(
	ctx context.Context, op *driver.Op, records *mongo.Collection, seen *attempts,
) driver.Result {
	raw, err := records.FindOne(ctx, byID(op.ID)).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return driver.Result{Class: driver.OK, Sent: true, Attempts: seen.sent}
	}
	result := classify(err, op.Kind, *seen)
	if result.Class != driver.OK {
		return result
	}
	stored := takeApart(raw)
	return result.Holding(stored.Found)
}

// readAll reads several records by one command, each of which has to be there.
func (d *Driver) readAll(
	ctx context.Context, op *driver.Op, records *mongo.Collection, seen *attempts,
) driver.Result {
	wanted := map[string]bool{}
	for _, id := range op.IDs {
		wanted[id] = true
	}
	damaged := false
	cursor, err := records.Find(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: op.IDs}}}})
	if err == nil {
		for cursor.Next(ctx) {
			stored := takeApart(cursor.Current)
			damaged = damaged || !stored.Intact()
			delete(wanted, stored.id)
		}
		err = cursor.Err()
		_ = cursor.Close(ctx)
	}
	result := classify(err, op.Kind, *seen)
	result.Found = len(wanted) == 0
	if result.Class == driver.OK && damaged {
		result = result.Spoilt(driver.Failed)
	}
	return result
}

// exchange replaces a record and takes back what then is stored, by one command.
func exchange(
	ctx context.Context, op *driver.Op, records *mongo.Collection, seen *attempts,
) driver.Result {
	raw, err := records.FindOneAndReplace(ctx, byID(op.ID), whole(op), after()).Raw()
	remade := errors.Is(err, mongo.ErrNoDocuments)
	if remade {
		raw, err = records.FindOneAndReplace(ctx, byID(op.ID), whole(op), after().SetUpsert(true)).Raw()
	}
	result := classify(err, op.Kind, *seen)
	if result.Remade = remade; remade {
		result.Attempts--
	}
	return exchanged(op, raw, result)
}

func after() *options.FindOneAndReplaceOptionsBuilder {
	return options.FindOneAndReplace().SetReturnDocument(options.After)
}

// exchanged holds what is stored against what was sent.
func exchanged(op *driver.Op, raw bson.Raw, result driver.Result) driver.Result {
	if result.Class != driver.OK {
		return result
	}
	if stored := takeApart(raw); !stored.Valid || *stored.Record != op.Record {
		result = result.Spoilt(driver.InDoubt)
	}
	return result
}

func whole(op *driver.Op) bson.D { return document(op.ID, op.Record, op.Value, op.Fields) }

var addOne = bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int64(1)}}}}

// write does a write without knowing what is stored, but that something is: what is missing has to
// be made anew, which is told.
func write(ctx context.Context, op *driver.Op, records *mongo.Collection) (remade bool, err error) {
	if op.Kind == driver.Insert {
		_, err := records.InsertOne(ctx, whole(op))
		return false, err
	}
	change := func(upsert bool) (*mongo.UpdateResult, error) {
		if op.Kind == driver.Increment {
			return records.UpdateOne(ctx, byID(op.ID), addOne, options.UpdateOne().SetUpsert(upsert))
		}
		return records.ReplaceOne(ctx, byID(op.ID), whole(op), options.Replace().SetUpsert(upsert))
	}
	done, err := change(false)
	if err != nil || done.MatchedCount > 0 {
		return false, err
	}
	_, err = change(true)
	return true, err
}
