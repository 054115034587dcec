package redis

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"brownout/loadgen/driver"
)

// newFailover makes go-redis's client of the master that sentinels name, or of its replicas. It asks
// them before each connection, and closes those to a master that they replace.
func newFailover(d *Driver, encryption *tls.Config, of way) *goRedisClient {
	sentinel := d.config.Sentinel
	options := &goredis.FailoverOptions{
		MasterName:            sentinel.Master,
		SentinelAddrs:         sentinel.Addresses,
		SentinelUsername:      sentinel.Username,
		SentinelPassword:      sentinel.Password,
		Username:              d.config.Username,
		Password:              d.config.Password,
		TLSConfig:             encryption,
		DialTimeout:           driver.Milliseconds(d.policy.ConnectTimeoutMS),
		PoolSize:              d.policy.PoolSize,
		ReplicaOnly:           d.asksReplicas(of),
		ContextTimeoutEnabled: true, // or it would not know of deadlines
		ReadTimeout:           max(goRedisTimeout, d.InDoubtFor()),
		WriteTimeout:          max(goRedisTimeout, d.InDoubtFor()),
	}
	if !of.retries {
		options.MaxRetries = -1
	}
	made := goredis.NewFailoverClient(options)
	made.AddHook(discovering{})
	return &goRedisClient{made}
}

// noMasterError wraps the error of a failed attempt to connect to the master. Nothing was sent.
type noMasterError struct{ error }

func (e *noMasterError) Unwrap() error { return e.error }

// discovering marks what was in the way of a connection. The client repeats an operation below the
// hook, so that of one that may be repeated only the last error is seen: what failed is in doubt.
type discovering struct{ counting }

func (discovering) DialHook(next goredis.DialHook) goredis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := next(ctx, network, address)
		if err != nil {
			return nil, &noMasterError{err}
		}
		return connection, nil
	}
}

func (d discovering) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	counted := d.counting.ProcessHook(next)
	return func(ctx context.Context, c goredis.Cmder) error {
		doubtRepeats(ctx)
		return counted(ctx, c)
	}
}

func (d discovering) ProcessPipelineHook(next goredis.ProcessPipelineHook) goredis.ProcessPipelineHook {
	counted := d.counting.ProcessPipelineHook(next)
	return func(ctx context.Context, all []goredis.Cmder) error {
		doubtRepeats(ctx)
		return counted(ctx, all)
	}
}

func doubtRepeats(ctx context.Context) {
	if seen := attemptsOf(ctx); seen != nil && !seen.once {
		seen.lock.Lock()
		defer seen.lock.Unlock()
		seen.doubt = true
	}
}

// lookAtMaster returns the master that sentinels name as the only shard, and the replicas that it has.
func (c *control) lookAtMaster(ctx context.Context) (*topology, error) {
	for address, node := range c.client.Nodes() {
		answer, err := node.Do(ctx, node.B().Arbitrary("ROLE").Build()).ToAny()
		if err != nil {
			return nil, fmt.Errorf("the master %s: %w", address, err)
		}
		return parseRole(address, answer)
	}
	return nil, fmt.Errorf("the sentinels name no master %q", c.config.Sentinel.Master)
}

// parseRole reads the answer to ROLE of a master: its role, its offset, and the host, port and offset
// of each replica.
func parseRole(master string, answer any) (*topology, error) {
	fields, _ := answer.([]any)
	if len(fields) < 3 || fields[0] != "master" {
		return nil, fmt.Errorf("%s is not a master: ROLE says %.100v", master, answer)
	}
	servers := []string{master}
	replicas, _ := fields[2].([]any)
	for _, replica := range replicas {
		named, _ := replica.([]any)
		if len(named) < 2 {
			return nil, fmt.Errorf("the answer to ROLE is not understood: %.100v", answer)
		}
		port, err := strconv.ParseUint(text(named[1]), 10, 16)
		if err != nil {
			return nil, fmt.Errorf("the answer to ROLE is not understood: %.100v", answer)
		}
		servers = append(servers, net.JoinHostPort(text(named[0]), strconv.FormatUint(port, 10)))
	}
	all := &shard{master, laneMaster}
	seen := &topology{shards: []shard{*all}, ranges: []slotRange{{0, slots - 1, servers}}}
	for slot := range seen.owners {
		seen.owners[slot] = all
	}
	return seen, nil
}
