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
	records := d.streams[op.Stream].records(op.Verified)
	switch op.Kind {
	case driver.Read:
		return d.read(ctx, op, records, seen)
	case driver.Batch:
		return d.readAll(ctx, op, records, seen)
	case driver.Operate:
		return exchange(ctx, op, records, seen)
	}
	return classify(write(ctx, op, records), op.Kind, *seen)
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
	result.Found, result.Record, result.Value = true, stored.record, stored.count
	if !stored.intact() {
		result.Class, result.Cause, result.Code = driver.Failed, driver.CauseIntegrity, "checksum"
	}
	return result
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
			damaged = damaged || !stored.intact()
			delete(wanted, stored.id)
		}
		err = cursor.Err()
		_ = cursor.Close(ctx)
	}
	result := classify(err, op.Kind, *seen)
	result.Found = len(wanted) == 0
	if result.Class == driver.OK && damaged {
		result.Class, result.Cause, result.Code = driver.Failed, driver.CauseIntegrity, "checksum"
	}
	return result
}

// exchange replaces a record and takes back what then is stored, by one command.
func exchange(
	ctx context.Context, op *driver.Op, records *mongo.Collection, seen *attempts,
) driver.Result {
	how := options.FindOneAndReplace().SetUpsert(true).SetReturnDocument(options.After)
	raw, err := records.FindOneAndReplace(ctx, byID(op.ID), document(op.ID, op.Record, op.Value, op.Fields), how).Raw()
	result := classify(err, op.Kind, *seen)
	if result.Class != driver.OK {
		return result
	}
	if stored := takeApart(raw); !stored.valid || *stored.record != op.Record {
		result.Class, result.Cause, result.Code = driver.InDoubt, driver.CauseIntegrity, "checksum"
	}
	return result
}

func write(ctx context.Context, op *driver.Op, records *mongo.Collection) error {
	switch op.Kind {
	case driver.Insert:
		_, err := records.InsertOne(ctx, document(op.ID, op.Record, op.Value, op.Fields))
		return err
	case driver.Increment:
		add := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int64(1)}}}}
		_, err := records.UpdateOne(ctx, byID(op.ID), add, options.UpdateOne().SetUpsert(true))
		return err
	}
	whole := document(op.ID, op.Record, op.Value, op.Fields)
	_, err := records.ReplaceOne(ctx, byID(op.ID), whole, options.Replace().SetUpsert(true))
	return err
}
