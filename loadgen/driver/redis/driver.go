// Package redis is the Redis Cluster driver of the load generator: valkey-go or, by an option,
// go-redis, with every policy that matters in a fault stated and recorded.
//
// All keys begin with the namespace: `<namespace>/data/` has the plain data set, `<namespace>/ledger/`
// the verified keys, `<namespace>/meta/brownout` the marker that says whose keys these are. It
// touches nothing else.
package redis

import (
	"context"
	"fmt"
	"strings"
	"time"

	"brownout/loadgen/driver"
)

const (
	folderData   = "data"
	folderLedger = "ledger"
	folderMeta   = "meta"
)

func init() { driver.Register("redis", func() driver.Driver { return &Driver{} }) }

var _ driver.Driver = (*Driver)(nil)

// Driver does operations on one Redis Cluster.
type Driver struct {
	config   driver.Config
	policy   policy
	hosts    []string
	steady   client // retries off
	retrying client // for streams whose client may retry; else nil
	retries  []bool // by stream
	owners   [slots]*shard
}

// Open connects, and waits until every slot is served.
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
	if err := d.awaitService(ctx); err != nil {
		return err
	}
	if d.steady, err = d.connected(false); err != nil {
		return err
	}
	for _, s := range d.config.Streams {
		retries := s.Retries == driver.RetriesDriverDefault
		if retries && d.retrying == nil {
			if d.retrying, err = d.connected(true); err != nil {
				return err
			}
		}
		d.retries = append(d.retries, retries)
	}
	if d.config.Reuse {
		return d.checkLoaded(ctx)
	}
	return nil
}

// clientFor is that of a stream.
func (d *Driver) clientFor(stream int) client {
	if d.retries[stream] {
		return d.retrying
	}
	return d.steady
}

// openTimeout leaves room for some failovers.
const openTimeout = 20 * time.Second

// awaitService waits until every slot has a master that answers, and learns who has which.
func (d *Driver) awaitService(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for begun := time.Now(); ; {
		err := d.tryService(ctx)
		if err == nil {
			return nil
		}
		if cause := judge(err).cause; cause == driver.CauseAuthTLS {
			return fmt.Errorf("the cluster refuses the login or the TLS connection: %w; "+
				"see `auth` and `tls` of the inventory's `connection`", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no cluster serves at %s within %v: %w; is it up, and has every slot a master?",
				strings.Join(d.hosts, ", "), time.Since(begun).Round(100*time.Millisecond), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (d *Driver) tryService(ctx context.Context) error {
	c, err := d.control()
	if err != nil {
		return err
	}
	defer c.Close()
	shards, owners, err := c.lookAtSlots(ctx)
	if err != nil {
		return err
	}
	for slot, of := range owners {
		if of == nil {
			return fmt.Errorf("slot %d has no master", slot)
		}
	}
	for _, of := range shards {
		node, known := c.client.Nodes()[of.master]
		if !known {
			return fmt.Errorf("the master %s cannot be connected to", of.master)
		}
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		err := node.Do(ctx, node.B().Arbitrary("SCAN", "0", "MATCH", escaped(d.markerKey()), "COUNT", "1").Build()).Error()
		cancel()
		if err != nil {
			return fmt.Errorf("the master %s: %w", of.master, err)
		}
	}
	if _, err := c.ReadMarker(ctx); err != nil {
		return err
	}
	d.owners = owners
	return nil
}

// LaneCap is how many requests may be in flight to a shard: valkey-go, which sends all of them over
// few connections, has no limit, and go-redis has its pools.
func (d *Driver) LaneCap() int {
	if d.config.LaneCap > 0 {
		return d.config.LaneCap
	}
	return defaultLaneCap
}

const defaultLaneCap = 100

// InDoubtFor is the longest deadline. What a master that hangs has in its buffers by then it may still
// do when it wakes up, but no write that knows what it wants to find (Op.Known) finds it once a
// later one of its key has been done.
func (d *Driver) InDoubtFor() time.Duration {
	longest := 0.0
	for _, s := range d.config.Streams {
		longest = max(longest, s.DeadlineS)
	}
	return time.Duration(longest * float64(time.Second))
}

// Started has nothing to do: no policy depends on the schedule.
func (d *Driver) Started(time.Time) {}

// Close disconnects.
func (d *Driver) Close() {
	for _, c := range []client{d.steady, d.retrying} {
		if c != nil {
			c.close()
		}
	}
}

// folder is the beginning of all keys of one part of the namespace.
func (d *Driver) folder(name string) string { return d.config.Namespace + "/" + name + "/" }

// keyOf is where the record of an operation lies.
func (d *Driver) keyOf(verified bool, id string) string {
	if verified {
		return d.folder(folderLedger) + id
	}
	return d.folder(folderData) + id
}
