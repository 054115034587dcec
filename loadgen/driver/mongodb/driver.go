// Package mongodb is the MongoDB driver of the load generator: the official
// Go client, with every policy that matters in a fault stated and recorded.
//
// In its own database (the namespace) it keeps three collections: `data`, the
// plain data set; `ledger`, the verified keys; `meta`, the marker that says whose
// database this is. It touches nothing else.
package mongodb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"brownout/loadgen/driver"
)

const (
	collectionData   = "data"
	collectionLedger = "ledger"
	collectionMeta   = "meta"
	// collectionsOfClients begins the names of the collections of clients (infra/clients/mongodb.py).
	collectionsOfClients = "brownout_client"
)

func collectionOf(verified bool) string {
	if verified {
		return collectionLedger
	}
	return collectionData
}

func init() { driver.Register("mongodb", func() driver.Driver { return &Driver{} }) }

var _ driver.Driver = (*Driver)(nil)

// Driver does operations on one MongoDB cluster.
type Driver struct {
	config  driver.Config
	policy  policy
	clients map[way]*client
	streams []stream
	hosts   []string
	login   string  // how the client logs in; "" for not at all
	shards  *shards // nil unless the cluster is a sharded one, behind routers

	encrypted bool // by the configuration or by the URI
	secure    bool // whether it speaks TLS, also if only the URI says so
}

// way is what a client is for. Reads and writes have connections of their own: writes that wait for a
// majority must not take those of reads.
type way struct{ retries, writes bool }

// client is a connected client and what it knows of the cluster.
type client struct {
	*mongo.Client
	watcher *watcher
}

// stream is a stream's way into the database: one for its reads and one for its writes.
type stream struct {
	retries       bool
	reads, writes access
}

// access is a client with the collections of the load.
type access struct {
	client       *client
	data, ledger *mongo.Collection
}

func (s stream) of(kind driver.Kind) access {
	if kind.Write() {
		return s.writes
	}
	return s.reads
}

func (a access) records(verified bool) *mongo.Collection {
	if verified {
		return a.ledger
	}
	return a.data
}

// Open connects two clients, for reads and for writes, for each way of retrying that the streams ask for,
// and waits until it can serve them.
func (d *Driver) Open(ctx context.Context, config driver.Config) error {
	d.config, d.clients = config, map[way]*client{}
	var err error
	if d.policy, err = parsePolicy(config.Options, config.LaneCap); err != nil {
		return redacted(err, config)
	}
	for _, s := range config.Streams {
		retries := s.RetriesItself()
		reads, err := d.connect(ctx, way{retries: retries})
		if err != nil {
			return redacted(err, config)
		}
		writes, err := d.connect(ctx, way{retries: retries, writes: true})
		if err != nil {
			return redacted(err, config)
		}
		d.streams = append(d.streams, stream{retries: retries, reads: reads, writes: writes})
	}
	if err := d.lookBehindRouters(ctx); err != nil {
		return redacted(err, config)
	}
	if config.Reuse {
		return redacted(d.checkLoaded(ctx), config)
	}
	return nil
}

// lookBehindRouters finds the shards of a cluster that is reached through routers.
func (d *Driver) lookBehindRouters(ctx context.Context) (err error) {
	for _, c := range d.clients {
		if c.watcher.current.Load().routers {
			d.shards, err = watchShards(ctx, d)
			return err
		}
	}
	return nil
}

func (d *Driver) connect(ctx context.Context, of way) (access, error) {
	if d.clients[of] == nil {
		if err := d.connectOnce(ctx, of); err != nil {
			return access{}, err
		}
	}
	database := d.clients[of].Database(d.config.Namespace)
	return access{d.clients[of], database.Collection(collectionData), database.Collection(collectionLedger)}, nil
}

func (d *Driver) connectOnce(ctx context.Context, of way) error {
	o, err := clientOptions(d.config, d.policy, of.retries)
	if err != nil {
		return err
	}
	watcher := newWatcher()
	d.hosts, d.login, d.secure = o.Hosts, loginOf(o), o.TLSConfig != nil
	connected, err := mongo.Connect(o.SetServerMonitor(watcher.monitor()).SetMonitor(attemptMonitor(of.retries)))
	if err != nil {
		return err
	}
	d.clients[of] = &client{Client: connected, watcher: watcher}
	patience := min(openTimeout, *o.ServerSelectionTimeout)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := connected.Ping(ctx, readpref.Primary()); err != nil {
		return unreachable(err, o.Hosts, patience)
	}
	return nil
}

// openTimeout leaves room for one election with MongoDB's defaults (10 s).
const openTimeout = 20 * time.Second

// unreachable says why a cluster could not be used, server by server.
func unreachable(err error, hosts []string, patience time.Duration) error {
	servers := strings.Join(hosts, ", ")
	result := unsent(err)
	if result.Cause == driver.CauseAuthTLS {
		return fmt.Errorf("the cluster at %s refuses the login or the TLS connection: %w; "+
			"see `auth` and `tls` of the inventory's `connection`", servers, err)
	}
	var selection topology.ServerSelectionError
	if !errors.As(err, &selection) {
		return fmt.Errorf("the cluster at %s does not answer: %w", servers, err)
	}
	var states []string
	hint := "is the cluster up, and is the replica set initiated?"
	for _, server := range selection.Desc.Servers {
		state := fmt.Sprintf("%s is %s", server.Addr, strings.ToLower(server.Kind.String()))
		if server.LastError != nil {
			state += fmt.Sprintf(" (%v)", server.LastError)
			switch {
			case untrusted(server.LastError):
				hint = "see `connection.tls` in the inventory"
			case errors.Is(server.LastError, io.EOF):
				hint = "it may want TLS, or refuse our certificate; see `connection.tls` in the inventory"
			}
		}
		states = append(states, state)
	}
	return fmt.Errorf("no primary found within %v: %s; %s", patience, strings.Join(states, ", "), hint)
}

// Lane names the server that the driver would select for op now.
func (d *Driver) Lane(op *driver.Op) string {
	mode := readpref.PrimaryMode
	if !op.Kind.Write() {
		mode = d.policy.readMode()
	}
	if d.shards != nil && op.Document == nil {
		return d.shards.lane(op, mode)
	} // documents are not sharded: through the routers, to the database's own shard
	return d.streams[op.Stream].of(op.Kind).client.watcher.current.Load().lane(mode)
}

// LaneCap is the size of the pools that the drivers keep for each server. Shards
// share the pool of their router, so that each gets its part: what hangs in one
// must not take the connections of the others.
func (d *Driver) LaneCap() int {
	if d.shards != nil {
		return max(1, d.policy.PoolSize/max(1, d.shards.count()))
	}
	return d.policy.PoolSize
}

// InDoubtFor is the longest deadline: every command carries what was left of it
// as the server's own limit, which starts when the server reads the command.
func (d *Driver) InDoubtFor() time.Duration { return d.config.LongestDeadline() }

// Started has nothing to do: no policy depends on the schedule.
func (d *Driver) Started(time.Time) {}

// Close disconnects, without waiting for the pending answers of a broken server.
func (d *Driver) Close() {
	if d.shards != nil {
		d.shards.close()
	}
	for _, c := range d.clients {
		closeClient(c.Client)
	}
}

func closeClient(c *mongo.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	_ = c.Disconnect(ctx) // the end of the process closes the rest
}
