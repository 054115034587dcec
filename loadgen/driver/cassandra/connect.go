package cassandra

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

func hostsOf(uri string) ([]string, error) {
	return driver.Hosts(uri, "cassandra://10.0.0.1:9042,10.0.0.2:9042")
}

// settingsFor turns the configuration into that of a client which waits so long for an answer,
// unless an operation's own deadline is over before that.
func (d *Driver) settingsFor(timeout time.Duration) (gocql.ClusterConfig, error) {
	p := d.policy
	c := *gocql.NewCluster(d.hosts...)
	c.Timeout = max(timeout, time.Second)
	c.ConnectTimeout = driver.Milliseconds(p.ConnectTimeoutMS)
	c.NumConns = p.ConnectionsPerNode
	c.Consistency = levels[p.Consistency]
	c.SerialConsistency = gocql.Serial
	c.DefaultTimestamp = p.Timestamps == byClient
	c.RetryPolicy = nil
	c.DefaultIdempotence = false // nothing is repeated, and nothing is asked of two nodes at a time
	c.ReconnectInterval = driver.Milliseconds(p.ReconnectMS)
	c.Metadata.CacheMode = gocql.KeyspaceOnly
	c.StreamObserver = observer{}
	nearest := gocql.RoundRobinHostPolicy()
	if p.LocalDC != "" {
		nearest = gocql.DCAwareRoundRobinPolicy(p.LocalDC)
	}
	c.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(nearest)
	encryption, err := secure.Config(d.config.TLS)
	if err != nil {
		return c, err
	}
	if encryption != nil {
		c.SslOpts = &gocql.SslOptions{Config: encryption, EnableHostVerification: !encryption.InsecureSkipVerify}
	}
	if d.config.Username != "" {
		c.Authenticator = gocql.PasswordAuthenticator{Username: d.config.Username, Password: d.config.Password}
	}
	return c, nil
}

// refusal tells whether the cluster does not want us, so that to ask again is of no use. The client
// tells of it in words only, where it tried several nodes.
func refusal(err error) bool {
	var spoken gocql.RequestError
	if errors.As(err, &spoken) {
		return meaning(spoken.Code()).cause == driver.CauseAuthTLS
	}
	text := err.Error()
	for _, part := range []string{
		"x509:", "tls:", "first record does not look like a TLS handshake", "credentials", "authentication",
		"Authenticator", "password are incorrect",
	} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// redacted returns an error for people, whose text holds no secret of the configuration.
func redacted(err error, c driver.Config) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	var spoken gocql.RequestError
	if errors.As(err, &spoken) && spoken.Code() == gocql.ErrCodeUnauthorized {
		text += fmt.Sprintf("; give the role all permissions on the keyspace %q, "+
			"or make it and give them on it", c.Namespace)
	}
	return c.Redacted(text)
}

// attempts is what happened to one operation inside the client: the requests that were handed to a
// connection. The client counts in the operation's own goroutine, so no lock.
type attempts struct{ sent int }

type attemptsKey struct{}

func withAttempts(ctx context.Context) (context.Context, *attempts) {
	a := &attempts{}
	return context.WithValue(ctx, attemptsKey{}, a), a
}

// observer counts requests: the client tells of one just before it writes it.
type observer struct{}

func (observer) StreamContext(ctx context.Context) gocql.StreamObserverContext {
	if a, ours := ctx.Value(attemptsKey{}).(*attempts); ours {
		return a
	}
	return nil
}

func (a *attempts) StreamStarted(gocql.ObservedStream) { a.sent++ }
func (*attempts) StreamAbandoned(gocql.ObservedStream) {}
func (*attempts) StreamFinished(gocql.ObservedStream)  {}

// addressOf is a node as inventories name it.
func addressOf(host *gocql.HostInfo) string {
	return net.JoinHostPort(host.ConnectAddress().String(), fmt.Sprint(host.Port()))
}
