package redis

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/valkey-io/valkey-go"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

// client is one of the two libraries. A reply is a string, an int64, a list of replies, or nil.
type client interface {
	do(ctx context.Context, c command) (any, error)
	// together does reads of several keys, of each node in one request.
	together(ctx context.Context, all []command) []reply
	close()
}

type reply struct {
	value any
	err   error
}

// command is one command on one key.
type command struct {
	words []string
	key   int // which word is the key
	reads bool
}

func read(words ...string) command  { return command{words, 1, true} }
func write(words ...string) command { return command{words, 1, false} }

// script runs on the server in one step. Its text goes with every call, since a replica that was
// promoted does not have it.
func script(text, key string, arguments ...string) command {
	return command{append([]string{"EVAL", text, "1", key}, arguments...), 3, false}
}

func hostsOf(uri string) ([]string, error) {
	return driver.Hosts(uri, "redis://10.0.0.1:6379,10.0.0.2:6379")
}

// connected makes a client of the whole cluster, or of the master that sentinels name.
func (d *Driver) connected(of way) (client, error) {
	encryption, err := secure.Config(d.config.TLS)
	if err != nil {
		return nil, err
	}
	if d.policy.Client == goRedis && d.config.Sentinel != nil {
		return newFailover(d, encryption, of), nil
	}
	if d.policy.Client == goRedis {
		return newGoRedis(d, encryption, of), nil
	}
	return newValkeyGo(d, encryption, of)
}

type valkeyClient struct{ valkey.Client }

func newValkeyGo(d *Driver, encryption *tls.Config, of way) (*valkeyClient, error) {
	options := valkey.ClientOption{
		InitAddress:   d.hosts,
		Username:      d.config.Username,
		Password:      d.config.Password,
		TLSConfig:     encryption,
		Dialer:        net.Dialer{Timeout: driver.Milliseconds(d.policy.ConnectTimeoutMS), KeepAlive: time.Second},
		ClusterOption: valkey.ClusterOption{ShardsRefreshInterval: d.refreshOf(of)},
		DisableRetry:  !of.retries,
		DisableCache:  true, // each read is one of the server
		ReplicaOnly:   d.asksReplicas(of),
	}
	if s := d.config.Sentinel; s != nil {
		options.Sentinel = valkey.SentinelOption{
			Dialer: options.Dialer, TLSConfig: encryption, MasterSet: s.Master,
			Username: s.Username, Password: s.Password, TopologyRefreshInterval: d.refreshOf(of),
		}
	}
	made, err := valkey.NewClient(options)
	if err != nil {
		return nil, err
	}
	if d.config.Sentinel == nil && made.Mode() != valkey.ClientModeCluster {
		made.Close()
		return nil, fmt.Errorf("%s: it is no Redis Cluster (wanted `cluster-enabled yes`)", strings.Join(d.hosts, ", "))
	}
	return &valkeyClient{made}, nil
}

func (v *valkeyClient) close() { v.Client.Close() }

func (v *valkeyClient) built(c command) valkey.Completed {
	b := v.B().Arbitrary(c.words[:c.key]...).Keys(c.words[c.key]).Args(c.words[c.key+1:]...)
	if c.reads {
		return b.ReadOnly()
	}
	return b.Build()
}

// afterDeadline is how long the client may take to notice that the time is over. While one operation
// connects to a node that hangs, the client has all others of the node wait, whatever their deadlines.
const afterDeadline = 20 * time.Millisecond

func (v *valkeyClient) do(ctx context.Context, c command) (any, error) {
	all := v.within(ctx, 1, func() []valkey.ValkeyResult {
		return []valkey.ValkeyResult{v.Do(ctx, v.built(c))}
	})
	return all[0].value, all[0].err
}

func (v *valkeyClient) together(ctx context.Context, all []command) []reply {
	return v.within(ctx, len(all), func() []valkey.ValkeyResult {
		built := make([]valkey.Completed, len(all))
		for i, c := range all {
			built[i] = v.built(c)
		}
		return v.DoMulti(ctx, built...)
	})
}

// within returns the replies, or n times that the time is over.
func (v *valkeyClient) within(ctx context.Context, n int, ask func() []valkey.ValkeyResult) []reply {
	if seen := attemptsOf(ctx); seen != nil {
		_ = seen.begin()
	}
	done := make(chan []reply, 1)
	go func() {
		replies := make([]reply, 0, n)
		for _, result := range ask() {
			value, err := result.ToAny()
			if valkey.IsValkeyNil(err) {
				value, err = nil, nil
			}
			replies = append(replies, reply{value, err})
		}
		done <- replies
	}()
	select {
	case replies := <-done:
		return replies
	case <-ctx.Done():
	}
	select {
	case replies := <-done:
		return replies
	case <-time.After(afterDeadline):
	}
	late := make([]reply, n)
	for i := range late {
		late[i].err = ctx.Err()
	}
	return late
}

// redacted returns an error for people, whose text holds no secret of the configuration.
func redacted(err error, c driver.Config) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if said, is := ofServer(err); is && strings.HasPrefix(said, "NOPERM") {
		text += fmt.Sprintf("; give the user `~%s/* +@read +@write +@scripting +@connection +cluster`", c.Namespace)
	}
	return c.Redacted(text)
}
