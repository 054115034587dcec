// Package etcd is the etcd driver of the load generator: the official Go
// client, with every policy that matters in a fault stated and recorded.
//
// All keys begin with the namespace: `<namespace>/data/` has the plain data
// set, `<namespace>/ledger/` the verified keys, `<namespace>/meta/brownout` the
// marker that says whose keys these are. It touches nothing else.
package etcd

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"brownout/loadgen/driver"
)

func init() { driver.Register("etcd", func() driver.Driver { return &Driver{} }) }

var _ driver.Driver = (*Driver)(nil)

// Driver does operations on one etcd cluster.
type Driver struct {
	config  driver.Config
	policy  policy
	hosts   []string
	members []*member
	turn    atomic.Uint64
	whole   *clientv3.Client // of all members, for streams whose client may retry; else nil
	stop    context.CancelFunc
	started sync.WaitGroup
}

// Open connects to each member by itself, and waits until one serves.
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
	alive, stop := context.WithCancel(context.Background())
	d.stop = stop
	for _, host := range d.hosts {
		settings, err := d.settingsFor(alive, host)
		if err != nil {
			return err
		}
		settings.MaxUnaryRetries = 1 // attempts, in spite of its name
		settings.DialOptions = append(settings.DialOptions, grpc.WithChainUnaryInterceptor(refuse))
		m := &member{address: host}
		d.members = append(d.members, m)
		d.started.Go(func() { m.connect(alive, settings) })
	}
	if err := d.awaitService(ctx); err != nil {
		return err
	}
	for _, s := range d.config.Streams {
		if s.RetriesItself() && d.whole == nil {
			if d.whole, err = d.wholeClient(alive); err != nil {
				return err
			}
		}
	}
	if d.config.Reuse {
		return d.checkLoaded(ctx)
	}
	return nil
}

// wholeClient is the client as applications have it: all members, retries on.
func (d *Driver) wholeClient(alive context.Context) (*clientv3.Client, error) {
	settings, err := d.settingsFor(alive, d.hosts...)
	if err != nil {
		return nil, err
	}
	return clientv3.New(settings)
}

// openTimeout leaves room for some elections.
const openTimeout = 20 * time.Second

// awaitService waits until a member answers a linearizable read.
func (d *Driver) awaitService(ctx context.Context) error {
	return driver.Service{
		Patience: openTimeout, Pause: 50 * time.Millisecond,
		Absent: "no member serves", Hint: "is the cluster up, and has it a leader?",
		Try: func(ctx context.Context) (bool, error) {
			refused := 0
			for _, m := range d.members {
				err := m.problem()
				if client := m.client.Load(); client != nil {
					if err = d.tryOne(ctx, client); err == nil {
						return false, nil
					}
					m.failed(err)
				}
				if err != nil && unsent(err).Cause == driver.CauseAuthTLS {
					refused++
				}
			}
			return refused == len(d.members), errors.New(d.problems())
		},
	}.Await(ctx)
}

func (d *Driver) tryOne(ctx context.Context, client *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := client.Get(ctx, d.keys().Marker(), clientv3.WithCountOnly())
	return err
}

// LaneCap is how many requests may be in flight to a member: the client itself,
// which sends all of them over one connection, has no limit.
func (d *Driver) LaneCap() int { return cmp.Or(d.config.LaneCap, defaultLaneCap) }

const defaultLaneCap = 100

// InDoubtFor is the longest deadline: every request carries what was left of it
// as the server's own limit, which starts when the server reads the request. What
// is in a log by then may still be applied when a quorum comes back, but only
// before every later write of its key, none of which finds what it wants then.
func (d *Driver) InDoubtFor() time.Duration { return d.config.LongestDeadline() }

// Started has nothing to do: no policy depends on the schedule.
func (d *Driver) Started(time.Time) {}

// Close disconnects.
func (d *Driver) Close() {
	if d.stop != nil {
		d.stop()
	}
	d.started.Wait()
	if d.whole != nil {
		_ = d.whole.Close()
	}
}

func (d *Driver) keys() driver.Keys { return driver.Keys(d.config.Namespace) }
