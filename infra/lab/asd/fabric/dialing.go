package fabric

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Dialing is to whom a node sends its heartbeats: to its seeds for ever, to others for as long as
// they are contacts.
type Dialing struct {
	ctx      context.Context
	self     string
	interval time.Duration
	next     func() Pulse

	mu       sync.Mutex
	seeds    []string
	contacts []string
	beating  map[string]context.CancelFunc
}

// NewDialing returns one that sends what next returns every interval, until ctx ends; never to self.
func NewDialing(ctx context.Context, self string, interval time.Duration, next func() Pulse) *Dialing {
	return &Dialing{ctx: ctx, self: self, interval: interval, next: next, beating: map[string]context.CancelFunc{}}
}

// Seeds returns the seeds, in the order in which they were added.
func (d *Dialing) Seeds() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.seeds)
}

// Add makes an address a seed; false if it is one.
func (d *Dialing) Add(address string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.seeds, address) {
		return false
	}
	d.seeds = append(d.seeds, address)
	d.settle()
	return true
}

// Remove removes an address from the seeds; false if it was not one. A contact is dialled still.
func (d *Dialing) Remove(address string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.seeds, address)
	if i < 0 {
		return false
	}
	d.seeds = slices.Delete(d.seeds, i, i+1)
	d.settle()
	return true
}

// Follow makes these addresses the contacts.
func (d *Dialing) Follow(contacts []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.contacts, contacts) {
		d.contacts = slices.Clone(contacts)
		d.settle()
	}
}

// settle begins and ends what follows from seeds and contacts. It is locked.
func (d *Dialing) settle() {
	wanted := map[string]bool{}
	for _, address := range slices.Concat(d.seeds, d.contacts) {
		if wanted[address] = address != d.self; wanted[address] && d.beating[address] == nil {
			ctx, cancel := context.WithCancel(d.ctx)
			d.beating[address] = cancel
			go Beat(ctx, address, d.interval, d.next)
		}
	}
	for address, cancel := range d.beating {
		if !wanted[address] {
			cancel()
			delete(d.beating, address)
		}
	}
}
