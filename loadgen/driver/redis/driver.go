// Package redis is the Redis driver of the load generator, of Redis Cluster and of a Redis under
// Sentinel: valkey-go or go-redis, with every policy that matters in a fault stated and recorded.
//
// All keys begin with the namespace: `<namespace>/data/` has the plain data set, `<namespace>/ledger/`
// the verified keys, `<namespace>/meta/brownout` the marker that says whose keys these are. It
// touches nothing else.
package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"brownout/loadgen/driver"
)

func init() { driver.Register("redis", func() driver.Driver { return &Driver{} }) }

var _ driver.Driver = (*Driver)(nil)

// Driver does operations on one Redis Cluster, or on the master that sentinels name.
type Driver struct {
	config  driver.Config
	policy  policy
	hosts   []string
	clients map[way]client
	owners  [slots]*shard
}

// way is what a client is for. Reads and writes have one of their own if it has connections that each
// serve one request at a time: writes that hang must not take those of reads. So they have if reads ask
// replicas: what a write has to know it asks the master.
type way struct{ retries, writes bool }

// Open connects, and waits until every slot is served.
func (d *Driver) Open(ctx context.Context, config driver.Config) error {
	d.config = config
	return redacted(d.open(ctx), config)
}

func (d *Driver) open(ctx context.Context) (err error) {
	if d.policy, err = parsePolicy(d.config); err != nil {
		return err
	}
	if d.hosts, err = hostsOf(d.config.URI); err != nil {
		return err
	}
	if s := d.config.Sentinel; s != nil {
		if s.Master == "" || len(s.Addresses) == 0 {
			return errors.New("`sentinel` has no master or no addresses")
		}
		d.hosts = s.Addresses
	}
	if err := d.awaitService(ctx); err != nil {
		return err
	}
	d.clients = map[way]client{}
	for stream := range d.config.Streams {
		for _, kind := range []driver.Kind{driver.Read, driver.Update, driver.Increment} {
			of := d.wayOf(&driver.Op{Stream: stream, Kind: kind})
			if d.clients[of] != nil {
				continue
			}
			made, err := d.connected(of)
			if err != nil {
				return err
			}
			d.clients[of] = made
		}
	}
	if d.config.Reuse {
		return d.checkLoaded(ctx)
	}
	return nil
}

func (d *Driver) wayOf(op *driver.Op) way {
	apart := d.policy.Client == goRedis || d.policy.ReadFrom == fromReplica
	return way{d.repeats(op), apart && op.Kind.Write()}
}

// repeats tells whether the client may send an operation again by itself. go-redis would send what adds
// to a number again although the server may have done it: it would count twice, and be called done.
func (d *Driver) repeats(op *driver.Op) bool {
	twice := op.Kind == driver.Increment && d.policy.Client == goRedis
	return d.config.Streams[op.Stream].RetriesItself() && !twice
}

// asksReplicas tells whether a client of these reads from replicas.
func (d *Driver) asksReplicas(of way) bool { return d.policy.ReadFrom == fromReplica && !of.writes }

// refreshOf is how often a client looks at who owns which slots; 0: in its own way. One that reads from
// replicas, and learned of none at first, would ask the masters until something fails.
func (d *Driver) refreshOf(of way) time.Duration {
	if d.policy.RefreshMS == 0 && d.asksReplicas(of) {
		return time.Second
	}
	return driver.Milliseconds(d.policy.RefreshMS)
}

// openTimeout leaves room for some failovers.
const openTimeout = 20 * time.Second

// awaitService waits until every slot has a master that answers, and learns who has which.
func (d *Driver) awaitService(ctx context.Context) error {
	return driver.Service{
		Patience: openTimeout, Pause: 100 * time.Millisecond,
		Absent: "no cluster serves at " + strings.Join(d.hosts, ", "), Hint: "is it up, and has every slot a master (under Sentinel: do the sentinels know it)?",
		Try: func(ctx context.Context) (bool, error) {
			err := d.tryService(ctx)
			return err != nil && judge(err).cause == driver.CauseAuthTLS, err
		},
	}.Await(ctx)
}

func (d *Driver) tryService(ctx context.Context) error {
	c, err := d.control()
	if err != nil {
		return err
	}
	defer c.Close()
	seen, err := c.lookAtSlots(ctx)
	if err != nil {
		return err
	}
	for slot, of := range seen.owners {
		if of == nil {
			return fmt.Errorf("slot %d has no master", slot)
		}
	}
	for _, of := range seen.shards {
		node, known := c.client.Nodes()[of.master]
		if !known {
			return fmt.Errorf("the master %s cannot be connected to", of.master)
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		err := node.Do(ctx, node.B().Arbitrary("SCAN", "0", "MATCH", escaped(d.keys().Marker()), "COUNT", "1").Build()).Error()
		cancel()
		if err != nil {
			return fmt.Errorf("the master %s: %w", of.master, err)
		}
	}
	if _, err := c.ReadMarker(ctx); err != nil {
		return err
	}
	d.owners = seen.owners
	return nil
}

// LaneCap is how many requests may be in flight to a shard: valkey-go, which sends all of them over
// few connections, has no limit, and go-redis has its pools.
func (d *Driver) LaneCap() int { return cmp.Or(d.config.LaneCap, defaultLaneCap) }

const defaultLaneCap = 100

// InDoubtFor is the longest deadline. What a master that hangs has in its buffers by then it may still
// do when it wakes up, but no write that knows what it wants to find (Op.Known) finds it once a
// later one of its key has been done.
func (d *Driver) InDoubtFor() time.Duration { return d.config.LongestDeadline() }

// Started has nothing to do: no policy depends on the schedule.
func (d *Driver) Started(time.Time) {}

// Close disconnects.
func (d *Driver) Close() {
	for _, c := range d.clients {
		c.close()
	}
}

func (d *Driver) keys() driver.Keys { return driver.Keys(d.config.Namespace) }
