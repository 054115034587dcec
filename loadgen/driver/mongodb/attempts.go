package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/event"
)

// attempts is what happened to one operation inside the driver. The driver
// calls its monitor in the operation's own goroutine and context, so no lock.
type attempts struct {
	sent  int  // commands handed to a connection
	doubt bool // one of them, a write, may have taken effect though it failed
}

type attemptsKey struct{}

func withAttempts(ctx context.Context) (context.Context, *attempts) {
	a := &attempts{}
	return context.WithValue(ctx, attemptsKey{}, a), a
}

func attemptsOf(ctx context.Context) *attempts {
	a, _ := ctx.Value(attemptsKey{}).(*attempts)
	return a
}

// attemptMonitor counts attempts. With retries it also remembers the fate of
// each: the driver only returns the last error, or the first, and an attempt in
// doubt stays in doubt whatever the next one met.
func attemptMonitor(retries bool) *event.CommandMonitor {
	monitor := &event.CommandMonitor{
		Started: func(ctx context.Context, _ *event.CommandStartedEvent) {
			if a := attemptsOf(ctx); a != nil {
				a.sent++
			}
		},
	}
	if !retries {
		return monitor
	}
	monitor.Failed = func(ctx context.Context, e *event.CommandFailedEvent) {
		if a := attemptsOf(ctx); a != nil {
			a.doubt = a.doubt || inDoubt(e.Failure)
		}
	}
	monitor.Succeeded = func(ctx context.Context, e *event.CommandSucceededEvent) {
		// "Succeeded" includes a write that was done and not acknowledged.
		if a := attemptsOf(ctx); a != nil {
			_, err := e.Reply.LookupErr("writeConcernError")
			a.doubt = a.doubt || err == nil
		}
	}
	return monitor
}
