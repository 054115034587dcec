// Package drivertest has a driver for tests: it does what it is told, at once
// and without a network.
package drivertest

import (
	"context"
	"sync/atomic"
	"time"

	"brownout/loadgen/driver"
)

// Fake is a driver whose answers a test decides. Its zero value answers every
// operation with success, on one lane.
type Fake struct {
	Answer func(ctx context.Context, op *driver.Op) driver.Result
	Lanes  func(op *driver.Op) string
	Cap    int           // LaneCap; 64 if it is 0
	Doubt  time.Duration // InDoubtFor
	Loaded atomic.Uint64 // items
	Calls  atomic.Uint64 // of Do
	Opened driver.Config // what it was opened with
}

var _ driver.Driver = (*Fake)(nil)

// OK is a success, also of a read.
func OK() driver.Result { return driver.Result{Class: driver.OK, Found: true, Sent: true} }

// Refused is an error that can be retried.
func Refused() driver.Result {
	return driver.Result{Class: driver.Failed, Cause: driver.CauseConnectRefused, Code: "refused", Retryable: true}
}

// TimedOut waits for the deadline; a write is then in doubt.
func TimedOut(ctx context.Context, op *driver.Op) driver.Result {
	<-ctx.Done()
	result := driver.Result{Class: driver.Failed, Cause: driver.CauseTotalTimeout, Code: "timeout", Sent: true}
	if op.Kind.Write() {
		result.Class = driver.InDoubt
	}
	return result
}

// Open keeps the configuration, and does nothing else.
func (f *Fake) Open(_ context.Context, config driver.Config) error {
	f.Opened = config
	return nil
}

// Settings is empty.
func (f *Fake) Settings() map[string]any { return map[string]any{} }

// Lane is "only" unless Lanes says otherwise.
func (f *Fake) Lane(op *driver.Op) string {
	if f.Lanes == nil {
		return "only"
	}
	return f.Lanes(op)
}

// LaneCap is Cap, or 64.
func (f *Fake) LaneCap() int {
	if f.Cap == 0 {
		return 64
	}
	return f.Cap
}

// InDoubtFor is Doubt.
func (f *Fake) InDoubtFor() time.Duration { return f.Doubt }

// Do returns what Answer says, or OK.
func (f *Fake) Do(ctx context.Context, op *driver.Op) driver.Result {
	f.Calls.Add(1)
	if f.Answer == nil {
		return OK()
	}
	return f.Answer(ctx, op)
}

// Load counts the items of the share.
func (f *Fake) Load(_ context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	if data.Step == driver.LoadBegin || data.Step == driver.LoadEnd {
		return nil
	}
	f.Loaded.Store(data.Mine())
	progress(data.Mine(), data.Mine())
	return nil
}

// Started does nothing.
func (f *Fake) Started(time.Time) {}

// ReadBack finds nothing.
func (f *Fake) ReadBack(_ context.Context, _ bool, ids []string, _ bool, each func(driver.ReadBack)) error {
	for _, id := range ids {
		each(driver.ReadBack{ID: id, Missing: true})
	}
	return nil
}

// Clean does nothing.
func (f *Fake) Clean(context.Context) error { return nil }

// Close does nothing.
func (f *Fake) Close() {}
