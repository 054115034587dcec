package aerospike

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

const (
	scheme      = "aerospike://"
	defaultPort = 3000
	// openTimeout leaves room for a cluster that is just forming.
	openTimeout = 5 * time.Second
	openPause   = 200 * time.Millisecond
	loginLimit  = 5 * time.Second
	idleLimit   = 55 * time.Second // below the server's own minute
)

// hostsOf reads aerospike://HOST[:PORT],….
func hostsOf(uri string, t driver.TLS) ([]*client.Host, error) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return nil, fmt.Errorf("the connection's URI does not begin with %s", scheme)
	}
	var hosts []*client.Host
	for _, address := range strings.Split(strings.TrimSuffix(rest, "/"), ",") {
		name, port, err := net.SplitHostPort(address)
		if err != nil {
			name, port = address, strconv.Itoa(defaultPort)
		}
		number, err := strconv.Atoi(port)
		if err != nil || name == "" || strings.ContainsAny(name, "/@?") {
			return nil, fmt.Errorf("found the address %q (wanted HOST:PORT) in the connection's URI", address)
		}
		host := client.NewHost(strings.Trim(name, "[]"), number)
		if t.Enabled {
			host.TLSName = t.ServerName
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// clientPolicy is how the client keeps itself informed and connected.
func clientPolicy(c driver.Config, p policy) (*client.ClientPolicy, error) {
	encryption, err := secure.Config(c.TLS)
	if err != nil {
		return nil, err
	}
	own := client.NewClientPolicy()
	own.AuthMode, own.User, own.Password = authModes[p.AuthMode], c.Username, c.Password
	own.TlsConfig, own.UseServicesAlternate = encryption, p.ServicesAlternate
	own.Timeout, own.LoginTimeout = driver.Milliseconds(p.ConnectTimeoutMS), loginLimit
	own.IdleTimeout, own.TendInterval = idleLimit, driver.Milliseconds(p.TendIntervalMS)
	own.ConnectionQueueSize, own.LimitConnectionsToQueueSize = p.connections(), true
	own.MinConnectionsPerNode = p.MinPoolSize
	own.MaxErrorRate, own.ErrorRateWindow = p.MaxErrorRate, p.ErrorRateWindow
	own.ApplicationId = "brownout"
	return own, nil
}

// connect returns a client, waiting a little for a cluster that does not answer yet.
func (d *Driver) connect(ctx context.Context) (*client.Client, error) {
	for started := time.Now(); ; {
		// A copy each: a client changes what it is given.
		own, err := clientPolicy(d.config, d.policy)
		if err != nil {
			return nil, err
		}
		found, failure := client.NewClientWithPolicyAndHost(own, d.hosts...)
		if failure == nil {
			return found, nil
		}
		if denied(failure) || time.Since(started) > openTimeout || ctx.Err() != nil {
			return nil, d.unreachable(failure)
		}
		time.Sleep(openPause)
	}
}

// unreachable says why a cluster could not be used.
func (d *Driver) unreachable(failure client.Error) error {
	if code := deniedCode(failure); code != types.OK {
		return fmt.Errorf("the cluster at %s refuses the login: %s; see `connection.auth` in the inventory",
			d.where(), codeText(code))
	}
	why, hint := innermost(failure), "is the cluster up?"
	if d.config.TLS.Enabled {
		hint = "is the cluster up, and does it speak TLS there? see `connection.tls` in the inventory"
	}
	return fmt.Errorf("the cluster at %s does not answer within %v: %v; %s", d.where(), openTimeout, why, hint)
}

func denied(failure client.Error) bool { return deniedCode(failure) != types.OK }

// deniedCode is the code with which a server refused to let us in; OK if it did not.
func deniedCode(failure error) types.ResultCode {
	for failure != nil {
		if e, ok := failure.(*client.AerospikeError); ok && codes[e.ResultCode].cause == driver.CauseAuthTLS {
			return e.ResultCode
		}
		failure = errors.Unwrap(failure)
	}
	return types.OK
}

// innermost is the first cause of an error: the rest of its text repeats itself.
func innermost(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// plain says in a line what the client says in one for each attempt: the latest that
// reached a server, or else the latest.
func plain(err client.Error) error {
	last := attemptsOf(err).last
	if last == nil {
		return innermost(err)
	}
	if last.Node == nil {
		return errors.New(codeText(last.ResultCode))
	}
	return fmt.Errorf("%s from node %s", codeText(last.ResultCode), last.Node.GetHost())
}

// redacted returns an error for people, whose text holds no secret of the configuration.
func redacted(err error, c driver.Config) error {
	if err == nil {
		return nil
	}
	return c.Redacted(err.Error())
}
