package aerospike

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
)

// portion is how many records a worker takes at a time.
const portion = 500

// Load claims the sets and writes the data set. A data set of the same shape is
// used again if it is whole, and completed if an earlier load of it was killed;
// the ledger's keys always start anew.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	c, err := d.control(ctx)
	if err != nil {
		return redacted(err, d.config)
	}
	defer c.Close()
	return redacted(c.load(ctx, data, progress), d.config)
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

// begin claims the sets. Unless the plain data set is there, the marker says from then on that
// it is being written, and from where on.
func (c *control) begin(ctx context.Context, data driver.Dataset) error {
	mark, err := c.claim(data.Writer)
	if err != nil {
		return err
	}
	whole, err := c.reusable(ctx, mark, data)
	if err != nil || whole {
		return err
	}
	shape, from := shapeOf(data), 0
	if mark.Filling != nil && mark.Filling.Shape == shape {
		from = min(max(0, mark.Filling.Done), int(data.Keys))
	} else if err := c.makeRoom(ctx, mark, data); err != nil {
		return err
	}
	mark.Data, mark.Filling = nil, &filling{Shape: shape, Done: from}
	return c.putMarker(mark, data.Writer)
}

// fill writes the share of the plain data set, from where an earlier fill of it stopped, and
// of the ledger's keys.
func (c *control) fill(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	mark, err := c.begun()
	if err != nil {
		return err
	}
	from := data.Keys
	if mark.Data == nil {
		from = uint64(mark.Filling.Done)
	}
	plain, written := partOf(data.Share.Range(from, data.Keys)), driver.NewWritten(data, from, progress)
	filled := driver.NewFilled(plain.first, c.keeper(mark, data))
	put := func(ctx context.Context, p part) error {
		err := c.put(ctx, data, p)
		written.Add(p.limit - p.first)
		return err
	}
	err = inParts(ctx, data.Concurrency, plain, func(ctx context.Context, p part) error {
		if err := put(ctx, p); err != nil || ctx.Err() != nil { // it may have stopped in the middle
			return errors.Join(err, context.Cause(ctx))
		}
		return filled.Done(p.first, p.limit)
	})
	if err != nil {
		return err
	}
	return inParts(ctx, data.Concurrency, partOf(data.Share.Range(data.Keys, data.Total())), put)
}

// begun returns the marker of a load that was begun.
func (c *control) begun() (*marker, error) {
	mark, err := c.readMarker()
	if err == nil && (mark == nil || (mark.Data == nil && mark.Filling == nil)) {
		err = fmt.Errorf("the sets %s.%s were claimed by no load (wanted one that has begun)", c.sets.namespace, c.sets.data)
	}
	return mark, err
}

// keeper keeps how far one generator alone is. Several keep where they began: their shares
// are written at the same time.
func (c *control) keeper(mark *marker, data driver.Dataset) func(uint64) error {
	return func(until uint64) error {
		if !data.Share.Alone() {
			return nil
		}
		mark.Filling.Done = int(until)
		return c.putMarker(mark, data.Writer)
	}
}

// finish looks for every key of what was filled, and says in the marker that it is whole.
func (c *control) finish(ctx context.Context, data driver.Dataset) error {
	mark, err := c.begun()
	if err != nil {
		return err
	}
	if mark.Data == nil {
		if there, err := c.allThere(ctx, data); err != nil {
			return err
		} else if !there {
			return fmt.Errorf("the set %s.%s lacks records after it was filled; remove it by `brownout clean` and fill it again",
				c.sets.namespace, c.sets.data)
		}
	}
	shape := shapeOf(data)
	mark.Data, mark.Filling = &shape, nil
	return c.putMarker(mark, data.Writer)
}

// reusable tells whether the plain data set is there already: complete by the
// marker, of the same shape, every key of it found, and nothing inserted since.
func (c *control) reusable(ctx context.Context, mark *marker, data driver.Dataset) (bool, error) {
	if mark.Data == nil || *mark.Data != shapeOf(data) {
		return false, nil
	}
	counts, err := c.counts()
	if err != nil || counts[c.sets.inserts] > 0 {
		return false, err
	}
	return c.allThere(ctx, data)
}

// allThere looks for every key of the plain data set.
func (c *control) allThere(ctx context.Context, data driver.Dataset) (bool, error) {
	var missing atomic.Bool
	look := func(_ context.Context, p part) error {
		if missing.Load() {
			return nil
		}
		keys := make([]*client.Key, 0, p.limit-p.first)
		for i := p.first; i < p.limit; i++ {
			keys = append(keys, c.key(c.sets.data, driver.DataID(i)))
		}
		there, err := c.BatchExists(c.batch, keys)
		if err != nil {
			return fmt.Errorf("looking for the data set: %w", plain(err))
		}
		for _, is := range there {
			if !is {
				missing.Store(true)
			}
		}
		return nil
	}
	err := inParts(ctx, data.Concurrency, part{0, data.Keys}, look)
	return err == nil && !missing.Load(), err
}

// makeRoom empties the sets that do not hold what is wanted; until the new data set
// is complete the marker says so.
func (c *control) makeRoom(ctx context.Context, mark *marker, data driver.Dataset) error {
	mark.Data = nil
	if err := c.putMarker(mark, data.Writer); err != nil {
		return err
	}
	counts, err := c.counts()
	if err != nil {
		return err
	}
	for _, set := range []string{c.sets.data, c.sets.inserts, c.sets.ledger} {
		if counts[set] > 0 {
			if err := c.empty(ctx, set); err != nil {
				return err
			}
		}
	}
	return nil
}

// put writes a run of items, each over whatever is there.
func (c *control) put(ctx context.Context, data driver.Dataset, p part) error {
	record := newBins()
	for i := p.first; i < p.limit && ctx.Err() == nil; i++ {
		item := data.Item(i)
		set, content := c.sets.data, []*client.Bin(record)
		if item.Verified {
			set = c.sets.ledger
		}
		if item.Counter {
			content = []*client.Bin{counterBin(0)}
		} else {
			record = record.fill(&item.Record, item.Value, item.Fields)
			content = record
		}
		if err := c.PutBins(c.write, c.key(set, item.ID), content...); err != nil {
			return fmt.Errorf("loading %s.%s: %w", c.sets.namespace, set, plain(err))
		}
	}
	return nil
}

// part is a run of items: [first, limit).
type part struct{ first, limit uint64 }

func partOf(first, limit uint64) part { return part{first, limit} }

// inParts has workers do a run of items in parts, until the first error.
func inParts(ctx context.Context, workers int, all part, do func(context.Context, part) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Uint64
	next.Store(all.first)
	var group sync.WaitGroup
	for range max(workers, 1) {
		group.Go(func() {
			for ctx.Err() == nil {
				limit := next.Add(portion)
				if limit-portion >= all.limit {
					return
				}
				if err := do(ctx, part{limit - portion, min(limit, all.limit)}); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
