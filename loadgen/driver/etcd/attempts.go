package etcd

import (
	"context"
	"strings"

	"google.golang.org/grpc/stats"
)

// attempts is what happened to one operation inside the client, which calls its
// counter in the operation's own goroutine, so no lock.
type attempts struct {
	sent int // requests that were handed to a connection
}

type attemptsKey struct{}

func withAttempts(ctx context.Context) (context.Context, *attempts) {
	a := &attempts{}
	return context.WithValue(ctx, attemptsKey{}, a), a
}

// counter counts requests: gRPC tells of a payload once its connection has it, and
// before it waits for the answer. What it does not tell of was never sent.
type counter struct{}

const ofKeys = "/etcdserverpb.KV/"

// TagRPC leaves out what the client asks besides, as for a new token.
func (counter) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	if strings.HasPrefix(info.FullMethodName, ofKeys) {
		return ctx
	}
	return context.WithValue(ctx, attemptsKey{}, (*attempts)(nil))
}

func (counter) HandleRPC(ctx context.Context, event stats.RPCStats) {
	if _, is := event.(*stats.OutPayload); is {
		if a, _ := ctx.Value(attemptsKey{}).(*attempts); a != nil {
			a.sent++
		}
	}
}

func (counter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (counter) HandleConn(context.Context, stats.ConnStats)                       {}
