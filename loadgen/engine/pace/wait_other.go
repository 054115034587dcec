//go:build !linux

package pace

import "time"

// Waiter sleeps as well as the runtime's timers can.
type Waiter struct{}

// NewWaiter returns a waiter.
func NewWaiter() *Waiter { return &Waiter{} }

// Wait sleeps for d.
func (*Waiter) Wait(d time.Duration) { time.Sleep(d) }

// Close has nothing to give back.
func (*Waiter) Close() {}
