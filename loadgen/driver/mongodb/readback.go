package mongodb

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"brownout/loadgen/driver"
)

const readBackBatch = 500

// ReadBack reads keys as the majority has them. A write by the
// majority goes first, and the reads follow it in one causally consistent
// session: a primary that was cut off and does not know it yet cannot answer.
func (d *Driver) ReadBack(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	return d.controlled(func(c *control) error {
		return c.Client().UseSession(ctx, func(ctx context.Context) error {
			if err := c.touchMarker(ctx); err != nil {
				return err
			}
			records := c.Collection(collectionOf(verified))
			for first := 0; first < len(ids); first += readBackBatch {
				batch := ids[first:min(first+readBackBatch, len(ids))]
				if err := readBatch(ctx, records, batch, counter, each); err != nil {
					return fmt.Errorf("reading back: %w", err)
				}
			}
			return nil
		})
	})
}

func readBatch(
	ctx context.Context, records *mongo.Collection, ids []string, counter bool, each func(driver.ReadBack),
) error {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}
	cursor, err := records.Find(ctx, filter)
	if err != nil {
		return err
	}
	defer cursor.Close(ctx)
	stored := make(map[string]driver.ReadBack, len(ids))
	for cursor.Next(ctx) {
		f := takeApart(cursor.Current)
		stored[f.id] = f.ReadBack(f.id, counter)
	}
	if err := cursor.Err(); err != nil {
		return err
	}
	for _, id := range ids {
		back, ok := stored[id]
		if !ok {
			back = driver.ReadBack{ID: id, Missing: true}
		}
		each(back)
	}
	return nil
}
