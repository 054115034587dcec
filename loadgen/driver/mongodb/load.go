package mongodb

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
)

const (
	batchRecords = 1000
	batchBytes   = 4 << 20
	duplicateKey = 11000
)

// Load claims the database and writes the data set, all of it acknowledged by
// the majority. A data set of the same shape is used again if it is whole, and
// completed if an earlier load of it was killed; the ledger's keys always start anew.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	database, done, err := d.control(ctx)
	if err != nil {
		return err
	}
	defer done()
	return redacted(d.load(ctx, database, data, progress), d.config)
}

func (d *Driver) load(
	ctx context.Context, database *mongo.Database, data driver.Dataset, progress func(done, total uint64),
) error {
	step := data.Step
	if step == driver.LoadWhole || step == driver.LoadBegin {
		if err := d.begin(ctx, database, data); err != nil {
			return err
		}
	}
	if step == driver.LoadWhole || step == driver.LoadFill {
		if err := d.fill(ctx, database, data, progress); err != nil {
			return err
		}
	}
	if step == driver.LoadWhole || step == driver.LoadEnd {
		return d.finish(ctx, database, data)
	}
	return nil
}

// begin claims the database and makes room in it. Unless the plain data set is there, the
// marker says from then on that it is being written, and from where on.
func (d *Driver) begin(ctx context.Context, database *mongo.Database, data driver.Dataset) error {
	mark, err := d.claim(ctx, database)
	if err != nil {
		return err
	}
	whole, err := reusable(ctx, database, mark, data)
	if err != nil {
		return err
	}
	if !whole {
		if err := d.makeRoom(ctx, database, mark, data); err != nil {
			return err
		}
	}
	if data.Share.Alone() {
		return nil // it empties the ledger when it comes to writing it
	}
	return d.empty(ctx, database.Collection(collectionLedger))
}

// makeRoom leaves of the plain data only what an earlier fill of the same shape has written.
func (d *Driver) makeRoom(ctx context.Context, database *mongo.Database, mark *marker, data driver.Dataset) error {
	shape, from := shapeOf(data), int64(0)
	if mark.Filling != nil && mark.Filling.Shape == shape {
		from = min(max(0, mark.Filling.Done), int64(data.Keys))
	} else if err := d.empty(ctx, database.Collection(collectionData)); err != nil {
		return err
	}
	mark.Data, mark.Filling = nil, &filling{Shape: shape, Done: from} // until it is complete
	return d.putMarker(ctx, database, mark)
}

// fill writes the share of the plain data set, from where an earlier fill of it stopped, and
// of the ledger's keys.
func (d *Driver) fill(
	ctx context.Context, database *mongo.Database, data driver.Dataset, progress func(done, total uint64),
) error {
	mark, err := d.begun(ctx, database)
	if err != nil {
		return err
	}
	from := data.Keys
	if mark.Data == nil {
		from = uint64(mark.Filling.Done)
	}
	written := driver.NewWritten(data, from, progress)
	if mark.Data == nil {
		plain := part(data.Share.Range(from, data.Keys))
		filled := driver.NewFilled(plain.first, d.keeper(ctx, database, mark, data))
		if err := writeAll(ctx, database.Collection(collectionData), data, plain, filled, written); err != nil {
			return err
		}
	}
	// As late as possible: a load that was killed goes on to its end, and writes its ledger.
	if data.Share.Alone() {
		if err := d.empty(ctx, database.Collection(collectionLedger)); err != nil {
			return err
		}
	}
	promised := part(data.Share.Range(data.Keys, data.Total()))
	if err := writeAll(ctx, database.Collection(collectionLedger), data, promised, nil, written); err != nil {
		return err
	}
	if d.shards != nil {
		if err := d.shards.refresh(ctx); err != nil {
			return fmt.Errorf("reading which shard has which chunk: %w", err)
		}
	}
	return nil
}

// begun returns the marker of a load that was begun.
func (d *Driver) begun(ctx context.Context, database *mongo.Database) (*marker, error) {
	mark, err := readMarker(ctx, database)
	if err == nil && (mark == nil || (mark.Data == nil && mark.Filling == nil)) {
		err = fmt.Errorf("database %q was claimed by no load (wanted one that has begun)", database.Name())
	}
	return mark, err
}

// keeper keeps how far one generator alone is. Several keep where they began: their shares
// are written at the same time.
func (d *Driver) keeper(
	ctx context.Context, database *mongo.Database, mark *marker, data driver.Dataset,
) func(uint64) error {
	return func(until uint64) error {
		if !data.Share.Alone() {
			return nil
		}
		mark.Filling.Done = int64(until)
		return d.putMarker(ctx, database, mark)
	}
}

// finish counts what was filled, and says in the marker that it is whole.
func (d *Driver) finish(ctx context.Context, database *mongo.Database, data driver.Dataset) error {
	mark, err := d.begun(ctx, database)
	if err != nil {
		return err
	}
	if mark.Data == nil {
		if err := checkCount(ctx, database, data); err != nil {
			return err
		}
	}
	shape := shapeOf(data)
	mark.Data, mark.Filling = &shape, nil
	return d.putMarker(ctx, database, mark)
}

// checkCount wants of the database itself that every record is there.
func checkCount(ctx context.Context, database *mongo.Database, data driver.Dataset) error {
	found, err := database.Collection(collectionData).CountDocuments(ctx, bson.D{})
	if err != nil {
		return fmt.Errorf("counting the data set: %w", err)
	}
	if found != int64(data.Keys) {
		return fmt.Errorf("%s.%s holds %d records after it was filled (wanted %d); remove it by `brownout clean` "+
			"and fill it again", database.Name(), collectionData, found, data.Keys)
	}
	return nil
}

// reusable tells whether the plain data set is there already: complete by the
// marker, of the same shape, as many records as wanted, and no inserted ones,
// whose keys the new run would want to insert again.
func reusable(
	ctx context.Context, database *mongo.Database, mark *marker, data driver.Dataset,
) (bool, error) {
	if mark.Data == nil || *mark.Data != shapeOf(data) {
		return false, nil
	}
	// Counted, not estimated: a server's estimate is off after a crash.
	records := database.Collection(collectionData)
	all, err := records.CountDocuments(ctx, bson.D{})
	if err != nil {
		return false, fmt.Errorf("counting the data set: %w", err)
	}
	ours := bson.D{{Key: "_id", Value: bson.D{
		{Key: "$gte", Value: driver.DataID(0)},
		{Key: "$lte", Value: driver.DataID(max(data.Keys, 1) - 1)},
	}}}
	known, err := records.CountDocuments(ctx, ours)
	if err != nil {
		return false, fmt.Errorf("counting the data set: %w", err)
	}
	return all == int64(data.Keys) && known == all, nil
}

// empty leaves nothing of a collection; on a sharded cluster it is sharded again.
func (d *Driver) empty(ctx context.Context, records *mongo.Collection) error {
	if err := records.Drop(ctx); err != nil {
		return fmt.Errorf("emptying %s.%s: %w", records.Database().Name(), records.Name(), err)
	}
	if d.shards != nil {
		return shard(ctx, records.Database(), records.Name())
	}
	return nil
}

// writeAll writes a run of items, and tells filled of each batch that is written. With filled
// some of them may be there already; they are left as they are.
func writeAll(
	ctx context.Context, records *mongo.Collection, data driver.Dataset, all batch,
	filled *driver.Filled, written *driver.Written,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan batch)
	var workers sync.WaitGroup
	for range max(data.Concurrency, 1) {
		workers.Go(func() {
			for b := range batches {
				err := b.insert(ctx, records, data)
				if filled != nil {
					if err = withoutDuplicates(err); err == nil {
						err = filled.Done(b.first, b.limit)
					}
				}
				if err != nil {
					cancel(fmt.Errorf("loading %s.%s: %w", records.Database().Name(), records.Name(), err))
					return
				}
				written.Add(b.limit - b.first)
			}
		})
	}
	deal(ctx, batches, all.first, all.limit, uint64(max(1, min(batchRecords, batchBytes/(data.ValueBytes+100)))))
	workers.Wait()
	return context.Cause(ctx)
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

// batch is a run of items: [first, limit).
type batch struct{ first, limit uint64 }

func part(first, limit uint64) batch { return batch{first, limit} }

func deal(ctx context.Context, batches chan<- batch, first, limit, size uint64) {
	defer close(batches)
	for ; first < limit; first += size {
		select {
		case batches <- batch{first, min(first+size, limit)}:
		case <-ctx.Done():
			return
		}
	}
}

func (b batch) insert(ctx context.Context, records *mongo.Collection, data driver.Dataset) error {
	documents := make([]any, 0, b.limit-b.first)
	for i := b.first; i < b.limit; i++ {
		documents = append(documents, stored(data.Item(i)))
	}
	_, err := records.InsertMany(ctx, documents, options.InsertMany().SetOrdered(false))
	return err
}

func stored(item driver.Item) bson.D {
	if item.Counter {
		return counter(item.ID, 0)
	}
	return document(item.ID, item.Record, item.Value, item.Fields)
}
