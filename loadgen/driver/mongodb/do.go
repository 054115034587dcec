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
	records := d.streams[op.Stream].records(op.Verified)
	if op.Kind == driver.Read {
		return d.read(ctx, op, records, seen)
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

func write(ctx context.Context, op *driver.Op, records *mongo.Collection) error {
	switch op.Kind {
	case driver.Insert:
		_, err := records.InsertOne(ctx, document(op.ID, op.Record, op.Value))
		return err
	case driver.Increment:
		add := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int64(1)}}}}
		_, err := records.UpdateOne(ctx, byID(op.ID), add, options.UpdateOne().SetUpsert(true))
		return err
	}
	whole := document(op.ID, op.Record, op.Value)
	_, err := records.ReplaceOne(ctx, byID(op.ID), whole, options.Replace().SetUpsert(true))
	return err
}
