// Package couchbase is the Couchbase driver of the load generator: gocb v2 on the key-value service,
// with every policy that matters in a fault stated and recorded. It was tried against CouchbaseMock
// only.
//
// The bucket is not made by the driver. All keys begin with the namespace: `<namespace>/data/` has
// the plain data set, `<namespace>/ledger/` the verified keys, `<namespace>/meta/brownout` the marker
// that says whose keys these are. Beside them there is one design document, `brownout-<namespace>`,
// whose view lists these keys: the key-value service cannot. Nothing else is touched.
package couchbase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/couchbase/gocb/v2"
	"github.com/couchbase/gocbcore/v10"

	"brownout/loadgen/driver"
)

func init() { driver.Register("couchbase", func() driver.Driver { return &Driver{} }) }

var (
	_ driver.Driver      = (*Driver)(nil)
	_ driver.TimesItself = (*Driver)(nil)
)

// Driver does operations on one bucket.
type Driver struct {
	config driver.Config
	policy policy
	hosts  []string
	load   *connection
	agent  *gocbcore.Agent // knows who has which vbucket
}

// connection is one client and what it has open.
type connection struct {
	*gocb.Collection
	cluster *gocb.Cluster
	bucket  *gocb.Bucket
}

func (c *connection) close() { _ = c.cluster.Close(nil) }

// Open connects, and waits until every node of the bucket is connected.
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
	if d.load, err = d.connect(); err != nil {
		return err
	}
	if err = d.awaitService(ctx); err != nil {
		return err
	}
	if d.agent, err = d.load.bucket.Internal().IORouter(); err != nil {
		return err
	}
	if d.config.Reuse {
		return d.checkLoaded(ctx)
	}
	return nil
}

const (
	// openTimeout leaves room for an automatic failover.
	openTimeout = 20 * time.Second
	tryTimeout  = 2 * time.Second
)

// awaitService waits until all nodes of the bucket are connected, and the marker can be read.
func (d *Driver) awaitService(ctx context.Context) error {
	return driver.Service{
		Patience: openTimeout, Pause: 100 * time.Millisecond,
		Absent: fmt.Sprintf("the bucket %q does not serve at %s", d.policy.Bucket, strings.Join(d.hosts, ", ")),
		Hint:   "is the cluster up, and does it have the bucket?",
		Try: func(ctx context.Context) (bool, error) {
			err := d.load.bucket.WaitUntilReady(tryTimeout, &gocb.WaitUntilReadyOptions{
				Context: ctx, RetryStrategy: &attempts{}, ServiceTypes: []gocb.ServiceType{gocb.ServiceTypeKeyValue},
			})
			if err == nil {
				_, err = d.load.Get(d.keys().Marker(), &gocb.GetOptions{Timeout: tryTimeout, Transcoder: raw{}})
			}
			if err == nil || errors.Is(err, gocb.ErrDocumentNotFound) {
				return false, nil
			}
			if why, refused := d.whyNot(); why != "" {
				return refused, errors.New(why)
			}
			return meaning(err).cause == driver.CauseAuthTLS, err
		},
	}.Await(ctx)
}

// LaneCap is how many requests may be in flight to a node: the client, which sends all of them over
// few connections, only has the limit of its queue.
func (d *Driver) LaneCap() int { return cmp.Or(d.config.LaneCap, defaultLaneCap) }

const defaultLaneCap = 100

// TimesItself tells that each request has what is left of the deadline for its own time-out, so that
// the client says whether it was sent.
func (d *Driver) TimesItself() {}

// InDoubtFor is the longest deadline, or the least that a server gives a durable write. What a node that
// hangs has in its buffers by then it may still do when it wakes up, but a write that knows what it
// wants to find (Op.Known) carries the CAS of that, which a later one of its key has changed.
func (d *Driver) InDoubtFor() time.Duration {
	if d.policy.level() != gocb.DurabilityLevelNone {
		return max(d.config.LongestDeadline(), leastDurable)
	}
	return d.config.LongestDeadline()
}

// leastDurable is the shortest time-out of a durable write, by the client and by servers.
const leastDurable = 1500 * time.Millisecond

// Started has nothing to do: no policy depends on the schedule.
func (d *Driver) Started(time.Time) {}

// Close disconnects.
func (d *Driver) Close() {
	if d.load != nil {
		d.load.close()
	}
}

func (d *Driver) keys() driver.Keys { return driver.Keys(d.config.Namespace) }
