package etcd

import (
	"context"
	"fmt"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"brownout/loadgen/driver"
)

const (
	// batchRecords is below what a server takes in one transaction without being told (128).
	batchRecords = 100
	// batchBytes is below what it takes in one request (1.5 MiB).
	batchBytes = 1 << 20
)

// Load claims the namespace and writes the data set. A data set of the same shape is used again
// if it is whole, and completed if an earlier load of it was killed; the ledger's keys
// always start anew.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	c, err := d.control(ctx)
	if err == nil {
		defer c.Close()
		err = c.load(ctx, data, progress)
	}
	return redacted(err, d.config)
}

func (c *control) load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	step := data.Step
	if step == driver.LoadWhole || step == driver.LoadBegin {
		if err := c.begin(ctx, data); err != nil {
			return err
		}
	}
	if step == driver.LoadWhole || step == driver.LoadFill {
		if err := c.fill(ctx, data, progress); err != nil {
			return err
		}
	}
	if step == driver.LoadWhole || step == driver.LoadEnd {
		return c.finish(ctx, data)
	}
	return nil
}

// begin claims the namespace and makes room in it. Unless the plain data set is there, the marker
// says from then on that it is being written, and from where on.
func (c *control) begin(ctx context.Context, data driver.Dataset) error {
	mark, err := c.claim(ctx)
	if err != nil {
		return err
	}
	there, err := c.reusable(ctx, mark, data)
	if err != nil {
		return err
	}
	if !there {
		if err := c.makeRoom(ctx, mark, data); err != nil {
			return err
		}
	}
	if data.Share.Alone() {
		return nil // it empties the ledger when it comes to writing it
	}
	return c.empty(ctx, c.folder(folderLedger))
}

// makeRoom leaves of the plain data only what an earlier fill of the same shape has written.
func (c *control) makeRoom(ctx context.Context, mark *marker, data driver.Dataset) error {
	shape, from := shapeOf(data), uint64(0)
	if mark.Filling != nil && mark.Filling.Shape == shape {
		from = min(mark.Filling.Done, data.Keys)
	} else if err := c.empty(ctx, c.folder(folderData)); err != nil {
		return err
	}
	mark.Data, mark.Filling = nil, &filling{Shape: shape, Done: from} // until it is complete
	return c.putMarker(ctx, mark)
}

// fill writes the share of the plain data set, from where an earlier fill of it stopped, and of
// the ledger's keys.
func (c *control) fill(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	mark, err := c.begun(ctx)
	if err != nil {
		return err
	}
	from := data.Keys
	if mark.Data == nil {
		from = mark.Filling.Done
	}
	written := driver.NewWritten(data, from, progress)
	if mark.Data == nil {
		first, limit := data.Share.Range(from, data.Keys)
		filled := driver.NewFilled(first, c.keeper(ctx, mark, data))
		if err := c.writeAll(ctx, data, first, limit, filled, written); err != nil {
			return err
		}
	}
	// As late as possible: a load that was killed goes on to its end, and writes its ledger.
	if data.Share.Alone() {
		if err := c.empty(ctx, c.folder(folderLedger)); err != nil {
			return err
		}
	}
	first, limit := data.Share.Range(data.Keys, data.Total())
	return c.writeAll(ctx, data, first, limit, nil, written)
}

// begun returns the marker of a load that was begun.
func (c *control) begun(ctx context.Context) (*marker, error) {
	mark, err := c.readMarker(ctx)
	if err == nil && (mark == nil || (mark.Data == nil && mark.Filling == nil)) {
		err = fmt.Errorf("the namespace %q was claimed by no load (wanted one that has begun)", c.config.Namespace)
	}
	return mark, err
}

// keeper keeps how far one generator alone is. Several keep where they began: their shares are
// written at the same time.
func (c *control) keeper(ctx context.Context, mark *marker, data driver.Dataset) func(uint64) error {
	return func(until uint64) error {
		if !data.Share.Alone() {
			return nil
		}
		mark.Filling.Done = until
		return c.putMarker(ctx, mark)
	}
}

// finish counts what was filled, and says in the marker that it is whole.
func (c *control) finish(ctx context.Context, data driver.Dataset) error {
	mark, err := c.begun(ctx)
	if err != nil {
		return err
	}
	if mark.Data == nil {
		found, err := c.count(ctx, all(c.folder(folderData), clientv3.WithCountOnly()))
		if err != nil {
			return err
		}
		if found != data.Keys {
			return fmt.Errorf("%s holds %d records after it was filled (wanted %d); remove it by `brownout clean` "+
				"and fill it again", c.folder(folderData), found, data.Keys)
		}
	}
	shape := shapeOf(data)
	mark.Data, mark.Filling = &shape, nil
	return c.putMarker(ctx, mark)
}

func (c *control) count(ctx context.Context, of clientv3.Op) (uint64, error) {
	got, err := c.do(ctx, of)
	if err != nil {
		return 0, fmt.Errorf("counting the data set: %w", err)
	}
	return uint64(got.Get().Count), nil
}

// reusable tells whether the plain data set is there already: complete by the marker, of the same
// shape, as many records as wanted, and no inserted ones, whose keys the new run would want to
// insert again.
func (c *control) reusable(ctx context.Context, mark *marker, data driver.Dataset) (bool, error) {
	if mark.Data == nil || *mark.Data != shapeOf(data) {
		return false, nil
	}
	everything, err := c.count(ctx, all(c.folder(folderData), clientv3.WithCountOnly()))
	if err != nil {
		return false, err
	}
	end := c.keyOf(false, driver.DataID(max(data.Keys, 1)-1)) + "\x00"
	ours, err := c.count(ctx, clientv3.OpGet(
		c.keyOf(false, driver.DataID(0)), clientv3.WithRange(end), clientv3.WithCountOnly()))
	return everything == data.Keys && ours == everything, err
}

// batch is a run of items: [first, limit).
type batch struct{ first, limit uint64 }

// writeAll writes a run of items, and tells filled of each batch that is written.
func (c *control) writeAll(
	ctx context.Context, data driver.Dataset, first, limit uint64, filled *driver.Filled, written *driver.Written,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan batch)
	var workers sync.WaitGroup
	for range max(data.Concurrency, 1) {
		workers.Go(func() {
			for b := range batches {
				err := c.writeBatch(ctx, data, b)
				if err == nil && filled != nil {
					err = filled.Done(b.first, b.limit)
				}
				if err != nil {
					cancel(fmt.Errorf("loading the namespace %q: %w", c.config.Namespace, err))
					return
				}
				written.Add(b.limit - b.first)
			}
		})
	}
	deal(ctx, batches, first, limit, uint64(max(1, min(batchRecords, batchBytes/(data.ValueBytes+100)))))
	workers.Wait()
	return context.Cause(ctx)
}

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

// writeBatch may be repeated: it writes the same again.
func (c *control) writeBatch(ctx context.Context, data driver.Dataset, b batch) error {
	writes := make([]clientv3.Op, 0, b.limit-b.first)
	for i := b.first; i < b.limit; i++ {
		item := data.Item(i)
		value := count(0)
		if !item.Counter {
			value = stored(item.Record, item.Value)
		}
		writes = append(writes, clientv3.OpPut(c.keyOf(item.Verified, item.ID), value))
	}
	_, err := c.do(ctx, clientv3.OpTxn(nil, writes, nil))
	return err
}
