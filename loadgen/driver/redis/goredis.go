package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"brownout/loadgen/driver"
)

type goRedisClient struct{ goredis.UniversalClient }

// silence keeps the client from writing to stderr.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func init() { goredis.SetLogger(silence{}) }

// goRedisTimeout is the client's own for an answer, of what no operation of the load waits for.
const goRedisTimeout = 3 * time.Second

// newGoRedis leaves to the client's defaults whatever the policy does not say. Of these, it looks at
// the slots again every 60 s, and after a redirect, but not after a connection was refused.
func newGoRedis(d *Driver, encryption *tls.Config, of way) *goRedisClient {
	options := &goredis.ClusterOptions{
		Addrs:                      d.hosts,
		Username:                   d.config.Username,
		Password:                   d.config.Password,
		TLSConfig:                  encryption,
		DialTimeout:                driver.Milliseconds(d.policy.ConnectTimeoutMS),
		ClusterStateReloadInterval: d.refreshOf(of),
		PoolSize:                   d.policy.PoolSize,
		ReadOnly:                   d.asksReplicas(of),
		ContextTimeoutEnabled:      true, // or it would not know of deadlines
		ReadTimeout:                max(goRedisTimeout, d.InDoubtFor()),
		WriteTimeout:               max(goRedisTimeout, d.InDoubtFor()),
	}
	if !of.retries { // counting keeps it from sending again, so there is nothing to pause for
		options.MinRetryBackoff, options.MaxRetryBackoff = -1, -1
	}
	made := goredis.NewClusterClient(options)
	made.OnNewNode(func(node *goredis.Client) { node.AddHook(counting{}) })
	return &goRedisClient{made}
}

// counting counts the attempts of the load's operations at each node, and is between the client and
// those that it would make after a failure.
type counting struct{}

func (counting) DialHook(next goredis.DialHook) goredis.DialHook { return next }

func (counting) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	return func(ctx context.Context, c goredis.Cmder) error {
		seen := attemptsOf(ctx)
		if seen == nil || !ofLoad[c.Name()] {
			return next(ctx, c)
		}
		if err := seen.begin(); err != nil {
			c.SetErr(err)
			return err
		}
		err := next(ctx, c)
		seen.ended(withoutNil(err))
		return err
	}
}

func (counting) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	return func(ctx context.Context, all []goredis.Cmder) error {
		seen := attemptsOf(ctx)
		if seen == nil || !ofLoad[all[0].Name()] {
			return next(ctx, all)
		}
		if err := seen.begin(); err != nil {
			for _, c := range all {
				c.SetErr(err)
			}
			return err
		}
		err := next(ctx, all)
		seen.ended(withoutNil(err))
		return err
	}
}

// ofLoad are the commands of operations. What else comes by is the client's own, as its login and its
// question for the slots.
var ofLoad = map[string]bool{"get": true, "set": true, "eval": true, "hgetall": true}

func withoutNil(err error) error {
	if errors.Is(err, goredis.Nil) {
		return nil
	}
	return err
}

func (g *goRedisClient) close() { _ = g.Close() }

func (g *goRedisClient) built(ctx context.Context, c command) *goredis.Cmd {
	words := make([]any, len(c.words))
	for i, word := range c.words {
		words[i] = word
	}
	return goredis.NewCmd(ctx, words...)
}

func (g *goRedisClient) do(ctx context.Context, c command) (any, error) {
	built := g.built(ctx, c)
	_ = g.Process(ctx, built)
	value, err := built.Result()
	return value, withoutNil(err)
}

func (g *goRedisClient) together(ctx context.Context, all []command) []reply {
	pipe := g.Pipeline()
	built := make([]*goredis.Cmd, len(all))
	for i, c := range all {
		built[i] = g.built(ctx, c)
		_ = pipe.Process(ctx, built[i])
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	replies := make([]reply, len(all))
	for i, c := range built {
		value, err := c.Result()
		replies[i] = reply{value, withoutNil(err)}
	}
	return replies
}
