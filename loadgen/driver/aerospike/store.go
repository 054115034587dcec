package aerospike

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
)

// batchRecords is how many records a worker writes or looks for at a time.
const batchRecords = 500

// Load claims the sets and writes the data set, as [driver.Load] says.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	return d.controlled(ctx, func(c *control) error { return driver.Load(ctx, c, data, progress) })
}

// Clean empties our sets, and refuses those of others.
func (d *Driver) Clean(ctx context.Context) error {
	return d.controlled(ctx, func(c *control) error { return driver.Clean(ctx, c) })
}

func (d *Driver) checkLoaded(ctx context.Context) error {
	return d.controlled(ctx, func(c *control) error { return driver.CheckLoaded(ctx, c) })
}

var _ driver.Store = (*control)(nil)

func (c *control) String() string {
	return fmt.Sprintf("the sets of the namespace %q on %s", c.sets.namespace, c.where)
}

func (c *control) Holds(context.Context) (string, error) {
	counts, err := c.counts()
	holds := make([]string, 0, len(counts))
	for set, n := range counts {
		if set == c.sets.client {
			continue
		}
		holds = append(holds, fmt.Sprintf("%s: %d", set, n))
	}
	slices.Sort(holds)
	return strings.Join(holds, ", "), err
}

// Count looks for every key: the nodes count all copies, also those that are on their way out.
func (c *control) Count(ctx context.Context, data driver.Dataset) (items, others uint64, err error) {
	counts, err := c.counts()
	if err != nil {
		return 0, 0, err
	}
	var there atomic.Uint64
	err = driver.InBatches(ctx, data.Concurrency, 0, data.Keys, batchRecords, func(_ context.Context, first, limit uint64) error {
		keys := make([]*client.Key, 0, limit-first)
		for i := first; i < limit; i++ {
			keys = append(keys, c.key(c.sets.data, driver.DataID(i)))
		}
		found, err := c.BatchExists(c.batch, keys)
		if err != nil {
			return fmt.Errorf("looking for the data set: %w", plain(err))
		}
		for _, is := range found {
			if is {
				there.Add(1)
			}
		}
		return nil
	})
	return there.Load(), uint64(counts[c.sets.inserts]), err
}

func (c *control) EmptyData(ctx context.Context) error {
	return c.emptyAll(ctx, c.sets.data, c.sets.inserts, c.sets.ledger)
}

// EmptyLedger leaves them: every key of the ledger is written over.
func (c *control) EmptyLedger(context.Context) error { return nil }

// emptyAll empties those of the sets in which there is something.
func (c *control) emptyAll(ctx context.Context, sets ...string) error {
	counts, err := c.counts()
	if err != nil {
		return err
	}
	for _, set := range sets {
		if counts[set] > 0 {
			if err := c.empty(ctx, set); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *control) BatchOf(driver.Dataset) uint64 { return batchRecords }

// Write writes each record over whatever is there.
func (c *control) Write(ctx context.Context, data driver.Dataset, first, limit uint64) error {
	record := newBins()
	for i := first; i < limit; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		item := data.Item(i)
		set, content := c.sets.of(item.Verified), []*client.Bin(record)
		if item.Counter {
			content = []*client.Bin{counterBin(0)}
		} else {
			record = record.fill(&item.Record, item.Value, item.Fields)
			content = record
		}
		if err := c.PutBins(c.write, c.key(set, item.ID), content...); err != nil {
			return fmt.Errorf("%s.%s: %w", c.sets.namespace, set, plain(err))
		}
	}
	return nil
}

func (c *control) Remove(ctx context.Context, _ []string) error {
	for _, set := range append(c.sets.all(), c.sets.claim) {
		if err := c.empty(ctx, set); err != nil {
			return err
		}
	}
	return nil
}
