package engine

import (
	"time"

	"brownout/loadgen/engine/account"
)

// restAfterFailure keeps a closed loop from spinning on a database that refuses
// at once: a worker is free again no earlier than this after the start of an operation that was not ok.
const restAfterFailure = time.Millisecond

// work is one worker of a closed-loop stream: an operation's intended start is
// the moment the worker is free, and the next one waits for its end. The worker
// does the operation itself, unless it has to wait for a slot: the goroutine that frees
// one does it then.
func (e *Engine) work(s *stream) {
	done := make(chan account.End, 1)
	for {
		o, intended, ok := e.offerFree(s, done)
		if !ok {
			return
		}
		if o != nil {
			e.doAndPass(o)
		}
		if end := <-done; end != account.Ok {
			time.Sleep(restAfterFailure - (e.Now() - intended))
		}
	}
}

// offerFree offers an operation now, unless the schedule has ended. It returns
// the operation if that has a slot and is the caller's to do, which is no longer
// part of the offer: the end of the schedule does not wait for it.
func (e *Engine) offerFree(s *stream, done chan account.End) (o *operation, intended time.Duration, ok bool) {
	e.offering.RLock()
	defer e.offering.RUnlock()
	if e.stopping.Load() {
		return nil, 0, false
	}
	intended = e.Now()
	return e.offer(s, intended, false, done), intended, true
}
