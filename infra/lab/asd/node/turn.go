package node

import (
	"time"

	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

// turn is the right to change one record; writers of the same record wait for it in line.
type turn struct {
	waiting int
	free    chan struct{} // holds one token while the turn is free
}

// enter waits for the record's turn: KeyBusy if too many wait already, Timeout if it comes too late.
// leave must be called after OK.
func (p *partition) enter(digest record.Digest, limit int, deadline time.Time) wire.Code {
	p.mu.Lock()
	t := p.busy[digest]
	if t == nil {
		p.busy[digest] = &turn{free: make(chan struct{}, 1)}
		p.mu.Unlock()
		return wire.OK
	}
	if t.waiting >= limit {
		p.mu.Unlock()
		return wire.KeyBusy
	}
	t.waiting++
	p.mu.Unlock()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-t.free:
		p.mu.Lock()
		t.waiting--
		p.mu.Unlock()
		return wire.OK
	case <-timer.C:
		return p.giveUp(digest, t)
	}
}

// giveUp leaves the line; if the turn came at that very moment, it goes to the next one.
func (p *partition) giveUp(digest record.Digest, t *turn) wire.Code {
	p.mu.Lock()
	t.waiting--
	p.mu.Unlock()
	select {
	case <-t.free:
		p.leave(digest)
	default:
	}
	return wire.Timeout
}

// leave hands the turn to the next in line.
func (p *partition) leave(digest record.Digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.busy[digest]
	if t.waiting == 0 {
		delete(p.busy, digest)
		return
	}
	t.free <- struct{}{}
}
