package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
)

// preloadPatience is for one operation of the load phase, repeated while it fails.
const preloadPatience = 30 * time.Second

// preloads is a source that has something written before the load begins.
type preloads interface {
	Loaded() int
	LoadedPlayer(n, stream int) []driver.Op
	Ended(op *driver.Op, sent bool, fate ledger.Fate)
}

// Preload writes what the sources want to be there when the load begins. It is called
// after the plain data is loaded, and before the start.
func (e *Engine) Preload(ctx context.Context, progress func(done, total uint64)) error {
	for _, s := range e.streams {
		if from, ok := s.source.(preloads); ok {
			if err := e.preload(ctx, s, from, progress); err != nil {
				return fmt.Errorf("loading stream %s: %w", s.spec.Name, err)
			}
		}
	}
	return nil
}

func (e *Engine) preload(ctx context.Context, s *stream, from preloads, progress func(done, total uint64)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, done atomic.Int64
	var group sync.WaitGroup
	for range max(e.spec.Data.LoadConcurrency, 1) {
		group.Go(func() {
			for n := next.Add(1) - 1; n < int64(from.Loaded()) && ctx.Err() == nil; n = next.Add(1) - 1 {
				for _, op := range from.LoadedPlayer(int(n), s.index) {
					if err := e.persist(ctx, &op); err != nil {
						cancel(err)
						return
					}
					from.Ended(&op, true, ledger.Acknowledged)
				}
				progress(uint64(done.Add(1)), uint64(from.Loaded()))
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// persist does an operation until it is done. One in doubt is not repeated: it would be
// there twice.
func (e *Engine) persist(ctx context.Context, op *driver.Op) error {
	ctx, cancel := context.WithTimeout(ctx, preloadPatience)
	defer cancel()
	for {
		result := e.driver.Do(ctx, op)
		if result.Class == driver.OK {
			return nil
		}
		if result.Class == driver.InDoubt || !result.Retryable || ctx.Err() != nil {
			return fmt.Errorf("%s of %s: %s (%s)", op.Kind, op.Document.Set, result.Cause, result.Code)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
