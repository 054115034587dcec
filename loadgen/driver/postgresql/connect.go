package postgresql

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/secure"
)

type host struct {
	name string
	port uint16
}

func (h host) String() string { return net.JoinHostPort(h.name, strconv.Itoa(int(h.port))) }

func hostsOf(uri string) ([]host, error) {
	addresses, err := driver.Hosts(uri, "postgresql://10.0.0.1:5432,10.0.0.2:5432")
	hosts := make([]host, len(addresses))
	for i, address := range addresses {
		name, port, _ := net.SplitHostPort(address)
		number, _ := strconv.ParseUint(port, 10, 16)
		hosts[i] = host{name, uint16(number)}
	}
	return hosts, err
}

// settingsFor is a pool of so many connections, each to the first of these servers that accepts
// writes; parameters are those of its sessions. Nothing is taken from the environment.
func (d *Driver) settingsFor(size int, parameters map[string]string, hosts []host) (*pgxpool.Config, error) {
	settings, err := pgxpool.ParseConfig("host=x port=1 user=x password=x dbname=x sslmode=disable")
	if err != nil {
		return nil, err
	}
	encryption, err := secure.Config(d.config.TLS)
	if err != nil {
		return nil, err
	}
	settings.MaxConns = int32(size)
	settings.MaxConnLifetime = 24 * time.Hour // nothing is opened anew in the middle of a run
	settings.MaxConnIdleTime = 24 * time.Hour
	c := settings.ConnConfig
	c.User, c.Password, c.Database = d.config.Username, d.config.Password, d.policy.Database
	c.ConnectTimeout = driver.Milliseconds(d.policy.ConnectTimeoutMS)
	c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	c.DialFunc = (&net.Dialer{KeepAlive: driver.Milliseconds(d.policy.KeepaliveMS)}).DialContext
	c.LookupFunc = d.lookUp
	c.OnNotice = noteOnCommit
	c.BuildContextWatcherHandler = func(connection *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{
			Conn: connection.Conn(), DeadlineDelay: driver.Milliseconds(d.policy.AnswerGraceMS),
		}
	}
	c.RuntimeParams = map[string]string{"application_name": "brownout"}
	for name, value := range parameters {
		c.RuntimeParams[name] = value
	}
	c.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	c.Fallbacks = nil
	for i, h := range hosts {
		own := encryptionFor(encryption, h)
		if i == 0 {
			c.Host, c.Port, c.TLSConfig = h.name, h.port, own
			continue
		}
		c.Fallbacks = append(c.Fallbacks, &pgconn.FallbackConfig{Host: h.name, Port: h.port, TLSConfig: own})
	}
	return settings, nil
}

func encryptionFor(shared *tls.Config, h host) *tls.Config {
	if shared == nil || shared.ServerName != "" {
		return shared
	}
	own := shared.Clone()
	own.ServerName = h.name
	return own
}

func withoutName(named *tls.Config) *tls.Config {
	bare := named.Clone()
	bare.ServerName = ""
	return bare
}

// lookUp resolves a host, and remembers by which name it was looked for.
func (d *Driver) lookUp(ctx context.Context, name string) ([]string, error) {
	found, err := net.DefaultResolver.LookupHost(ctx, name)
	for _, address := range found {
		d.names.Store(address, name)
	}
	return found, err
}

// redacted returns an error for people, whose text holds no secret of the configuration.
func redacted(err error, c driver.Config) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if strings.Contains(text, "SQLSTATE 42501") {
		text += fmt.Sprintf("; let the user create the schema %q in the database, or give that to it", c.Namespace)
	}
	return c.Redacted(strings.Join(strings.Fields(text), " "))
}
