// Package cassandra is the Apache Cassandra driver of the load generator: Apache's Go driver, with
// every policy that matters in a fault stated and recorded.
//
// All tables lie in a keyspace that is called as the namespace: `data` and `data_counters` have the
// plain data set, `ledger` and `ledger_counters` the verified keys, `documents` the documents, and
// `meta` the marker that says whose keyspace this is. It touches nothing else.
package cassandra

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

// The tables that have no name of what drivers share.
const (
	tableDataCounters   = "data_counters"
	tableLedgerCounters = "ledger_counters"
	tableDocuments      = "documents"
)

func init() { driver.Register("cassandra", func() driver.Driver { return &Driver{} }) }

var _ driver.Driver = (*Driver)(nil)

// Driver does operations on one Cassandra cluster.
type Driver struct {
	config  driver.Config
	policy  policy
	hosts   []string
	session *gocql.Session
	ring    ring
	opened  time.Time
}

// keyspaceName is what Cassandra takes as the name of a keyspace. Source: its SchemaConstants, where
// a name has 48 characters at most.
var keyspaceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,47}$`)

// Open connects, waits until a read is served, and learns who owns which tokens.
func (d *Driver) Open(ctx context.Context, config driver.Config) error {
	d.config, d.opened = config, time.Now()
	return redacted(d.open(ctx), config)
}

func (d *Driver) open(ctx context.Context) (err error) {
	if d.policy, err = parsePolicy(d.config.Options); err != nil {
		return err
	}
	if d.hosts, err = hostsOf(d.config.URI); err != nil {
		return err
	}
	if !keyspaceName.MatchString(d.config.Namespace) {
		return fmt.Errorf("the namespace %q cannot be the name of a keyspace (wanted a letter, then letters, "+
			"digits and _, 48 characters at most); set `namespace` in the workload", d.config.Namespace)
	}
	if d.session, err = d.connect(ctx, d.InDoubtFor()); err != nil {
		return err
	}
	if d.ring, err = ringOf(d.session.GetHosts(), d.policy.LocalDC); err != nil {
		return err
	}
	if d.config.Reuse {
		return d.checkLoaded(ctx)
	}
	return nil
}

const (
	// openTimeout leaves room for nodes that are starting.
	openTimeout = 30 * time.Second
	openPause   = 250 * time.Millisecond
)

// connect waits for a session that serves, and returns it.
func (d *Driver) connect(ctx context.Context, timeout time.Duration) (session *gocql.Session, err error) {
	err = driver.Service{
		Patience: openTimeout, Pause: openPause,
		Absent: fmt.Sprintf("no node of %s serves", d.config.URI), Hint: "is the cluster up?",
		Try: func(ctx context.Context) (bool, error) {
			settings, err := d.settingsFor(timeout) // of one session each
			if err == nil {
				session, err = tryOne(ctx, settings)
			}
			return err != nil && refusal(err), err
		},
	}.Await(ctx)
	return session, err
}

func tryOne(ctx context.Context, settings gocql.ClusterConfig) (*gocql.Session, error) {
	session, err := settings.CreateSession()
	if err != nil {
		return nil, err
	}
	var version string
	err = session.Query("SELECT release_version FROM system.local").ScanContext(ctx, &version)
	if err != nil {
		session.Close()
		return nil, err
	}
	return session, nil
}

// LaneCap is how many requests may be in flight to the replicas of one token owner: the client
// itself takes thousands over each connection.
func (d *Driver) LaneCap() int { return cmp.Or(d.config.LaneCap, defaultLaneCap) }

const defaultLaneCap = 100

// InDoubtFor is the longest deadline. What a node that hangs has in its buffers by then, or keeps as a
// hint for another one, may take effect later, but with the time at which the client sent it: it
// does not show behind a later write of its key, and a counter is read before it is counted on. With the
// servers' times it gets its time when it is done, and may cover up a later write that was acknowledged:
// that one is lost, and counts as lost.
func (d *Driver) InDoubtFor() time.Duration { return d.config.LongestDeadline() }

// Started has nothing to do: no policy depends on the schedule.
func (d *Driver) Started(time.Time) {}

// Close disconnects.
func (d *Driver) Close() {
	if d.session != nil {
		d.session.Close()
	}
}

// table is a table of ours, as CQL names it.
func (d *Driver) table(name string) string { return `"` + d.config.Namespace + `".` + name }

// now is the time that a write carries, in microseconds: what decides which of two writes of a key
// is the later one. It is the wall clock's when the driver was opened and does not go back with it.
func (d *Driver) now() int64 { return d.opened.Add(time.Since(d.opened)).UnixMicro() }

var errNoTokens = errors.New("no node tells its tokens; is the cluster up, and its partitioner Murmur3Partitioner?")
