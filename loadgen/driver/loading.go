package driver

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Step is what one call of Load does. One generator alone does all of it; of several the first
// one begins, then all fill, each its share, at last the first one ends.
type Step uint8

// The steps of a load.
const (
	LoadWhole Step = iota
	LoadBegin      // claim the namespace, and make room unless the data set is there already
	LoadFill       // write the share
	LoadEnd        // want of the database that all is there, and say so in the marker
)

var steps = map[string]Step{"": LoadWhole, "begin": LoadBegin, "fill": LoadFill, "end": LoadEnd}

// ParseStep reads a step's name; the empty one is all of them.
func ParseStep(name string) (Step, error) {
	step, known := steps[name]
	if !known {
		return 0, fmt.Errorf("`step` is %q (wanted begin, fill or end, or none of them)", name)
	}
	return step, nil
}

// Load claims a store and writes the data set. A plain data set of the same shape is used again if
// it is whole, and completed if an earlier load of it was killed; the ledger always begins anew.
func Load(ctx context.Context, s Store, data Dataset, progress func(done, total uint64)) error {
	if data.Step == LoadWhole || data.Step == LoadBegin {
		if err := begin(ctx, s, data); err != nil {
			return err
		}
	}
	if data.Step == LoadWhole || data.Step == LoadFill {
		if err := fill(ctx, s, data, progress); err != nil {
			return err
		}
	}
	if data.Step == LoadWhole || data.Step == LoadEnd {
		return finish(ctx, s, data)
	}
	return nil
}

func shapeOf(data Dataset) Shape {
	return Shape{Keys: data.Keys, ValueBytes: data.ValueBytes, Layout: data.Layout}
}

// begin claims the store and makes room in it. Unless the plain data set is there, the marker says
// from then on that it is being written, and from where on.
func begin(ctx context.Context, s Store, data Dataset) error {
	m, err := claim(ctx, s, data.Writer)
	if err != nil {
		return err
	}
	m.Writer = data.Writer
	there, err := reusable(ctx, s, m, data)
	if err != nil {
		return err
	}
	if !there {
		if err := makeRoom(ctx, s, m, data); err != nil {
			return err
		}
	}
	if data.Share.Alone() {
		return nil // it empties the ledger when it comes to writing it
	}
	return s.EmptyLedger(ctx)
}

// reusable tells whether the plain data set is there already: complete by the marker, of the same
// shape, every item counted and intact, and nothing inserted, whose keys a new run would insert again.
func reusable(ctx context.Context, s Store, m *Marker, data Dataset) (bool, error) {
	if m.Data == nil || *m.Data != shapeOf(data) {
		return false, nil
	}
	items, others, err := s.Count(ctx, data)
	if err != nil || items != data.Keys || others != 0 || data.Intact == nil {
		return err == nil && items == data.Keys && others == 0, err
	}
	return data.Intact(ctx)
}

// makeRoom leaves of the plain data only what an earlier fill of the same shape has written.
func makeRoom(ctx context.Context, s Store, m *Marker, data Dataset) error {
	shape := shapeOf(data)
	resumed := m.Filling != nil && m.Filling.Shape == shape
	if !resumed {
		// Said before it is done: a load that is killed in between leaves no marker of what is gone.
		m.Data, m.Filling = nil, nil
		if err := writeMarker(ctx, s, m); err != nil {
			return err
		}
		if err := s.EmptyData(ctx); err != nil {
			return err
		}
		m.Filling = &Filling{Shape: shape}
	}
	m.Data, m.Filling.Done = nil, min(m.Filling.Done, data.Keys)
	return writeMarker(ctx, s, m)
}

// fill writes the share of the plain data set, from where an earlier fill of it stopped, and of
// the ledger's keys.
func fill(ctx context.Context, s Store, data Dataset, progress func(done, total uint64)) error {
	m, err := begunMarker(ctx, s)
	if err != nil {
		return err
	}
	from := data.Keys
	if m.Data == nil {
		from = m.Filling.Done
	}
	written := NewWritten(data, from, progress)
	first, limit := data.Share.Range(from, data.Keys)
	filled := NewFilled(first, func(until uint64) error {
		if !data.Share.Alone() { // several shares are written at the same time
			return nil
		}
		m.Filling.Done = until
		return writeMarker(ctx, s, m)
	})
	if err := writeAll(ctx, s, data, first, limit, filled, written); err != nil {
		return err
	}
	// As late as possible: a load that lost its parent runs to its end, and writes its ledger.
	if data.Share.Alone() {
		if err := s.EmptyLedger(ctx); err != nil {
			return err
		}
	}
	first, limit = data.Share.Range(data.Keys, data.Total())
	return writeAll(ctx, s, data, first, limit, nil, written)
}

// writeAll writes items, and tells filled, if there is one, of each batch.
func writeAll(
	ctx context.Context, s Store, data Dataset, first, limit uint64, filled *Filled, written *Written,
) error {
	err := InBatches(ctx, data.Concurrency, first, limit, s.BatchOf(data), func(ctx context.Context, from, until uint64) error {
		err := s.Write(ctx, data, from, until)
		if err == nil && filled != nil {
			err = filled.Done(from, until)
		}
		if err == nil {
			written.Add(until - from)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("loading %s: %w", s, err)
	}
	return nil
}

// InBatches has workers do what there is from first up to limit, size at a time, until the first
// error, which it returns.
func InBatches(
	ctx context.Context, workers int, first, limit, size uint64,
	do func(ctx context.Context, first, limit uint64) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Uint64
	next.Store(first)
	size = max(size, 1)
	var group sync.WaitGroup
	for range max(workers, 1) {
		group.Go(func() {
			for ctx.Err() == nil {
				from := next.Add(size) - size
				if from >= limit {
					return
				}
				if err := do(ctx, from, min(from+size, limit)); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// finish counts what was filled, and says in the marker that it is whole.
func finish(ctx context.Context, s Store, data Dataset) error {
	m, err := begunMarker(ctx, s)
	if err != nil {
		return err
	}
	if m.Data == nil {
		items, _, err := s.Count(ctx, data)
		if err != nil {
			return err
		}
		if items != data.Keys {
			return fmt.Errorf("%s holds %d of %d records after it was filled; remove it by `brownout clean` "+
				"and fill it again", s, items, data.Keys)
		}
	}
	shape := shapeOf(data)
	m.Data, m.Filling = &shape, nil
	return writeMarker(ctx, s, m)
}

// Written counts the items that are written and tells how far a load is.
type Written struct {
	done  atomic.Uint64
	total uint64
	tell  func(done, total uint64)
}

// NewWritten counts items of those that data's share has; of the plain ones those before from
// were there already.
func NewWritten(data Dataset, from uint64, tell func(done, total uint64)) *Written {
	w := &Written{total: data.Mine(), tell: tell}
	first, limit := data.Share.Range(from, data.Keys)
	begin, end := data.Share.Range(0, data.Keys)
	w.done.Store((end - begin) - (limit - first))
	return w
}

// Add takes that n more are written.
func (w *Written) Add(n uint64) { w.tell(w.done.Add(n), w.total) }
