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
	mark, err := c.claim(data.Writer)
	if err != nil {
		return err
	}
	whole, err := c.reusable(ctx, mark, data)
	if err != nil {
		return err
	}
	var done atomic.Uint64
	put := func(ctx context.Context, p part) error {
		err := c.put(ctx, data, p)
		progress(done.Add(p.limit-p.first), data.Total())
		return err
	}
	if !whole {
		if err := c.fill(ctx, mark, data, &done, put); err != nil {
			return err
		}
	}
	done.Store(data.Keys)
	if err := inParts(ctx, data.Concurrency, part{data.Keys, data.Total()}, put); err != nil {
		return err
	}
	shape := shapeOf(data)
	mark.Data = &shape
	return c.putMarker(mark, data.Writer)
}

// fill writes the plain data set, from where an earlier fill of it stopped, and
// looks for every key of it. The marker says how far it is.
func (c *control) fill(
	ctx context.Context, mark *marker, data driver.Dataset, done *atomic.Uint64, put func(context.Context, part) error,
) error {
	shape, from := shapeOf(data), 0
	if mark.Filling != nil && mark.Filling.Shape == shape {
		from = min(max(0, mark.Filling.Done), int(data.Keys))
	} else if err := c.makeRoom(ctx, mark, data); err != nil {
		return err
	}
	keep := func(until uint64) error {
		mark.Filling = &filling{Shape: shape, Done: int(until)}
		return c.putMarker(mark, data.Writer)
	}
	if err := keep(uint64(from)); err != nil {
		return err
	}
	done.Store(uint64(from))
	filled := driver.NewFilled(uint64(from), keep)
	err := inParts(ctx, data.Concurrency, part{uint64(from), data.Keys}, func(ctx context.Context, p part) error {
		if err := put(ctx, p); err != nil || ctx.Err() != nil { // it may have stopped in the middle
			return errors.Join(err, context.Cause(ctx))
		}
		return filled.Done(p.first, p.limit)
	})
	if err != nil {
		return err
	}
	mark.Filling = nil
	if there, err := c.allThere(ctx, data); err != nil || there {
		return err
	}
	return fmt.Errorf("the set %s.%s lacks records after it was filled; remove it by `brownout clean` and fill it again",
		c.sets.namespace, c.sets.data)
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
