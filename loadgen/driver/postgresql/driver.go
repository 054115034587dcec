// Package postgresql is the PostgreSQL driver of the load generator: pgx, with every policy that
// matters in a fault stated and recorded.
//
// All tables lie in a schema that is called as the namespace: `data` has the plain data set, `ledger`
// the verified keys, `meta` the marker that says whose tables these are, and there is one for each
// set of documents. It touches nothing else.
package postgresql

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"brownout/loadgen/driver"
)

func init() { driver.Register("postgresql", func() driver.Driver { return &Driver{} }) }

var _ driver.Driver = (*Driver)(nil)

// Driver does operations on one cluster: on whichever server is its primary, or reads on a standby.
type Driver struct {
	config  driver.Config
	policy  policy
	hosts   []host
	reads   *pgxpool.Pool // apart from that of writes, which may all wait for a replica
	writes  *pgxpool.Pool
	primary atomic.Pointer[string] // where the latest connection went; nil before the first
	standby atomic.Pointer[string] // likewise, of reads that ask a standby
	names   sync.Map               // of the addresses that hosts were found at
	shown   map[string]string      // what the server says of how it commits
}

// Open connects, and waits until a server accepts writes.
func (d *Driver) Open(ctx context.Context, config driver.Config) error {
	d.config = config
	return redacted(d.open(ctx), config)
}

func (d *Driver) open(ctx context.Context) (err error) {
	if d.policy, err = parsePolicy(d.config.Options); err != nil {
		return err
	}
	if d.hosts, err = hostsOf(d.config.URI); err != nil {
		return err
	}
	if n := len(d.config.Namespace); n > longestName {
		return fmt.Errorf("the namespace %q has %d bytes; PostgreSQL cuts names after %d",
			d.config.Namespace, n, longestName)
	}
	if d.writes, err = d.newPool(&d.primary); err != nil {
		return err
	}
	if d.reads, err = d.newPool(d.server(driver.Read)); err != nil {
		return err
	}
	if err := d.awaitService(ctx); err != nil {
		return err
	}
	d.connectReads(ctx)
	if d.config.Reuse {
		return d.checkLoaded(ctx)
	}
	return nil
}

// connectReads makes the first connection for reads, so that the first read has a lane. Where no server
// takes it, reads fail, and the load says so.
func (d *Driver) connectReads(ctx context.Context) {
	if connection, err := d.reads.Acquire(ctx); err == nil {
		connection.Release()
	}
}

// server is where the latest connection for a kind of operations went.
func (d *Driver) server(kind driver.Kind) *atomic.Pointer[string] {
	if d.policy.ReadFrom == fromStandby && !kind.Write() {
		return &d.standby
	}
	return &d.primary
}

// newPool is a pool for the load, which notes in latest where its latest connection went.
func (d *Driver) newPool(latest *atomic.Pointer[string]) (*pgxpool.Pool, error) {
	settings, err := d.settingsFor(d.LaneCap(), d.policy.limits(d.InDoubtFor()), d.hosts)
	if err != nil {
		return nil, err
	}
	if latest == &d.standby {
		settings.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsStandby
	}
	settings.AfterConnect = func(_ context.Context, connection *pgx.Conn) error {
		at := d.nameOf(connection.PgConn())
		latest.Store(&at)
		return nil
	}
	return pgxpool.NewWithConfig(context.Background(), settings)
}

// poolOf is where operations of a kind find their connections.
func (d *Driver) poolOf(kind driver.Kind) *pgxpool.Pool {
	if kind.Write() {
		return d.writes
	}
	return d.reads
}

// longestName is what PostgreSQL keeps of a name (NAMEDATALEN - 1).
const longestName = 63

// openTimeout leaves room for a failover with Patroni's own settings.
const openTimeout = 45 * time.Second

// awaitService waits until a server accepts writes, and notes what it says of how it commits.
func (d *Driver) awaitService(ctx context.Context) error {
	return driver.Service{
		Patience: openTimeout, Pause: 100 * time.Millisecond,
		Absent: "no server accepts writes", Hint: "is the cluster up, and has it a primary?",
		Try: func(ctx context.Context) (bool, error) {
			err := d.show(ctx)
			return err != nil && unsent(err).Cause == driver.CauseAuthTLS, err
		},
	}.Await(ctx)
}

func (d *Driver) show(ctx context.Context) error {
	connection, err := d.writes.Acquire(ctx)
	if err != nil {
		return err
	}
	defer connection.Release()
	d.shown = map[string]string{}
	for _, name := range []string{"server_version", "synchronous_commit", "synchronous_standby_names"} {
		var value string
		if err := connection.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return err
		}
		d.shown[name] = value
	}
	return nil
}

// A lane is the server that the latest connection went to: the primary, as far as the client knows, or
// the standby that reads ask.
const laneUnrouted = "unrouted"

// Lane names that server; while there is none it is the one that was.
func (d *Driver) Lane(op *driver.Op) string {
	if at := d.server(op.Kind).Load(); at != nil {
		return *at
	}
	return laneUnrouted
}

// LaneCap is how many connections each of the two pools has, each of which serves one operation at a time.
func (d *Driver) LaneCap() int { return cmp.Or(d.config.LaneCap, d.policy.PoolSize) }

// InDoubtFor is the longest deadline, which is also the server's own limit of a statement. That
// starts when the server reads the statement: one that was frozen meanwhile does it when it resumes.
func (d *Driver) InDoubtFor() time.Duration { return d.config.LongestDeadline() }

// Started has nothing to do: no policy depends on the schedule.
func (d *Driver) Started(time.Time) {}

// Close disconnects, without waiting for what a broken server has not answered.
func (d *Driver) Close() {
	for _, pool := range []*pgxpool.Pool{d.reads, d.writes} {
		if pool != nil {
			closePool(pool)
		}
	}
}

func closePool(pool *pgxpool.Pool) {
	done := make(chan struct{})
	go func() { pool.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(500 * time.Millisecond): // the end of the process closes the rest
	}
}

// table is the quoted name of one of our tables.
func (d *Driver) table(name string) string {
	return pgx.Identifier{d.config.Namespace, name}.Sanitize()
}

// tableOf is where the record of an operation lies.
func (d *Driver) tableOf(verified bool) string {
	if verified {
		return d.table(driver.PlaceLedger)
	}
	return d.table(driver.PlaceData)
}

// nameOf is the server of a connection, as the URI calls it.
func (d *Driver) nameOf(connection *pgconn.PgConn) string {
	at := connection.Conn().RemoteAddr().String()
	if end := strings.LastIndex(at, ":"); end >= 0 {
		if name, found := d.names.Load(strings.Trim(at[:end], "[]")); found {
			return name.(string) + at[end:]
		}
	}
	return at
}
