package node

import (
	"context"
	"sync"
)

// crew is as many workers as are wanted, each running the same work until its context ends.
type crew struct {
	ctx  context.Context
	work func(context.Context)

	mu   sync.Mutex
	stop []context.CancelFunc
}

func newCrew(ctx context.Context, work func(context.Context)) *crew {
	return &crew{ctx: ctx, work: work}
}

// resize begins or ends workers; one that ends finishes what it is at.
func (c *crew) resize(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.stop) < size {
		ctx, cancel := context.WithCancel(c.ctx)
		c.stop = append(c.stop, cancel)
		go c.work(ctx)
	}
	for len(c.stop) > size {
		last := len(c.stop) - 1
		c.stop[last]()
		c.stop = c.stop[:last]
	}
}

func (c *crew) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.stop)
}
