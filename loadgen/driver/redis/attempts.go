package redis

import (
	"context"
	"sync"
)

// attempts is what happened to one operation inside a client. The clients ask several nodes at once
// only for a batch.
type attempts struct {
	once bool // what failed otherwise than by a redirect is not sent again

	lock  sync.Mutex
	sent  int   // commands that were handed to a node's connections
	doubt bool  // one of them, a write, may have taken effect though it failed
	last  error // of the latest one
}

type attemptsKey struct{}

func withAttempts(ctx context.Context, once bool) (context.Context, *attempts) {
	a := &attempts{once: once}
	return context.WithValue(ctx, attemptsKey{}, a), a
}

func attemptsOf(ctx context.Context) *attempts {
	a, _ := ctx.Value(attemptsKey{}).(*attempts)
	return a
}

// begin counts an attempt; it returns the error of an earlier one that rules out another.
func (a *attempts) begin() error {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.once && a.last != nil && !redirects(a.last) {
		return a.last
	}
	a.sent++
	return nil
}

func (a *attempts) ended(err error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.last = err
	a.doubt = a.doubt || (err != nil && judge(err).doubt)
}

// restart forgets what was sent, where nothing of it can have an effect.
func (a *attempts) restart() {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.sent, a.doubt, a.last = 0, false, nil
}
