package scripted

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"brownout/loadgen/driver"
	"brownout/loadgen/scriptserver/wire"
)

// Load claims the namespace on every lane, which empties it, and stores the
// data set.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	if data.Step == driver.LoadWhole || data.Step == driver.LoadBegin {
		if err := d.claim(ctx); err != nil {
			return err
		}
	}
	if data.Step == driver.LoadWhole || data.Step == driver.LoadFill {
		return d.fill(ctx, data, driver.NewWritten(data, 0, progress))
	}
	return nil
}

func (d *Driver) claim(ctx context.Context) error {
	for _, l := range d.lanes {
		claimed, err := l.link().ask(ctx, &wire.Request{Verb: wire.Claim, Writer: d.writer})
		if err != nil {
			return fmt.Errorf("cannot claim the namespace: %w", err)
		}
		if claimed.answer.Status != wire.OK {
			return fmt.Errorf("%w: namespace `%s` holds records that no load made", errRefused, d.namespace)
		}
	}
	return nil
}

// fill stores the share of the plain items and of the ledger's.
func (d *Driver) fill(ctx context.Context, data driver.Dataset, written *driver.Written) error {
	first, limit := data.Share.Range(0, data.Keys)
	if err := d.put(ctx, data, first, limit, written); err != nil {
		return err
	}
	first, limit = data.Share.Range(data.Keys, data.Total())
	return d.put(ctx, data, first, limit, written)
}

func (d *Driver) put(ctx context.Context, data driver.Dataset, first, limit uint64, written *driver.Written) error {
	return inParallel(ctx, limit-first, data.Concurrency, func(i uint64) error {
		item := data.Item(first + i)
		request := wire.Request{Verb: wire.Store, Key: item.ID, Value: item.Value}
		request.Writer, request.Seq, request.Checksum = item.Record.Writer, item.Record.Seq, item.Record.Checksum
		if _, err := d.lane(item.ID).link().ask(ctx, &request); err != nil {
			return fmt.Errorf("cannot load key `%s`: %w", item.ID, err)
		}
		written.Add(1)
		return nil
	})
}

// ReadBack reads what is stored, whatever the script says.
func (d *Driver) ReadBack(ctx context.Context, _ bool, ids []string, counter bool, each func(driver.ReadBack)) error {
	return inParallel(ctx, uint64(len(ids)), 32, func(i uint64) error {
		found, err := d.lane(ids[i]).link().ask(ctx, &wire.Request{Verb: wire.Peek, Key: ids[i]})
		back := driver.ReadBack{ID: ids[i], Err: err}
		if err == nil {
			back.Missing = found.answer.Status == wire.Missing
			back.Value, back.ChecksumOK = found.answer.Number, true
			if !back.Missing && !counter {
				record := found.record()
				back.Record, back.ChecksumOK = &record, found.checksum
			}
		}
		each(back)
		return nil
	})
}

// Clean empties the namespace.
func (d *Driver) Clean(ctx context.Context) error {
	for _, l := range d.lanes {
		if _, err := l.link().ask(ctx, &wire.Request{Verb: wire.Clear}); err != nil {
			return fmt.Errorf("cannot empty the namespace: %w", err)
		}
	}
	return nil
}

// inParallel does n pieces of work and returns the first error.
func inParallel(ctx context.Context, n uint64, workers int, do func(i uint64) error) error {
	var group sync.WaitGroup
	var next atomic.Uint64
	failed := make(chan error, 1)
	for range workers {
		group.Go(func() {
			for i := next.Add(1) - 1; i < n && ctx.Err() == nil && len(failed) == 0; i = next.Add(1) - 1 {
				if err := do(i); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return ctx.Err()
	}
}
