// Package meter counts what a node does, and how long it takes.
package meter

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Counters are numbers that only rise, by the names that info answers give them.
type Counters struct {
	mu    sync.RWMutex
	names map[string]*atomic.Uint64
}

// NewCounters returns counters that all stand at nothing.
func NewCounters() *Counters { return &Counters{names: map[string]*atomic.Uint64{}} }

// Add counts one more.
func (c *Counters) Add(name string) {
	c.mu.RLock()
	n := c.names[name]
	c.mu.RUnlock()
	if n == nil {
		c.mu.Lock()
		if n = c.names[name]; n == nil {
			n = &atomic.Uint64{}
			c.names[name] = n
		}
		c.mu.Unlock()
	}
	n.Add(1)
}

// Each hands every counter on that was ever used.
func (c *Counters) Each(each func(name string, value uint64)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for name, n := range c.names {
		each(name, n.Load())
	}
}

const (
	thresholds = 17               // over 1 ms, 2 ms, … 65,536 ms
	slice      = 10 * time.Second // what one answer of `latencies:` covers
)

// Latency is a histogram of which only the last whole slice of ten seconds is told, as the real
// server does: a rate of nothing is seen up to twenty seconds after the last operation.
type Latency struct {
	mu           sync.Mutex
	used         bool
	count        uint64
	over         [thresholds]uint64
	told         bool
	toldRate     float64
	toldShare    [thresholds]float64
	sliceStarted time.Time
}

// Record takes one operation into the books.
func (l *Latency) Record(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = true
	l.count++
	for i, limit := 0, time.Millisecond; i < thresholds && took > limit; i, limit = i+1, limit*2 {
		l.over[i]++
	}
}

// Turn ends a slice if it is over.
func (l *Latency) Turn(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sliceStarted.IsZero() {
		l.sliceStarted = now
	}
	lasted := now.Sub(l.sliceStarted)
	if lasted < slice {
		return
	}
	l.told, l.toldRate = l.used, float64(l.count)/lasted.Seconds()
	for i, n := range l.over {
		l.toldShare[i] = 0
		if l.count > 0 {
			l.toldShare[i] = 100 * float64(n) / float64(l.count)
		}
	}
	l.count, l.over, l.sliceStarted = 0, [thresholds]uint64{}, now
}

// String returns the last slice as `msec,841.6,0.68,…`; nothing before there was an operation.
func (l *Latency) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.told {
		return ""
	}
	words := []string{"msec", fmt.Sprintf("%.1f", l.toldRate)}
	for _, share := range l.toldShare {
		words = append(words, fmt.Sprintf("%.2f", share))
	}
	return strings.Join(words, ",")
}
