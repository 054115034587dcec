// Package etcd is the etcd driver of the load generator: the official Go
// client, with every policy that matters in a fault stated and recorded.
//
// All keys begin with the namespace: `<namespace>/data/` has the plain data
// set, `<namespace>/ledger/` the verified keys, `<namespace>/meta/brownout` the
// marker that says whose keys these are. It touches nothing else.
package etcd

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"brownout/loadgen/driver"
)

const (
	folderData   = "data"
	folderLedger = "ledger"
	folderMeta   = "meta"
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
	retries []bool           // by stream
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
		retries := s.Retries == driver.RetriesDriverDefault
		if retries && d.whole == nil {
			if d.whole, err = d.wholeClient(alive); err != nil {
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
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for begun := time.Now(); ; {
		refused := 0
		for _, m := range d.members {
			err := m.problem()
			if client := m.client.Load(); client != nil {
				err = d.tryOne(ctx, client)
				if err == nil {
					return nil
				}
				m.failed(err)
			}
			if err != nil && unsent(err).Cause == driver.CauseAuthTLS {
				refused++
			}
		}
		if refused == len(d.members) {
			return fmt.Errorf("the cluster refuses the login or the TLS connection: %s; "+
				"see `auth` and `tls` of the inventory's `connection`", d.problems())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no member serves within %v: %s; is the cluster up, and has it a leader?",
				time.Since(begun).Round(100*time.Millisecond), d.problems())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (d *Driver) tryOne(ctx context.Context, client *clientv3.Client) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := client.Get(ctx, d.markerKey(), clientv3.WithCountOnly())
	return err
}

// LaneCap is how many requests may be in flight to a member: the client itself,
// which sends all of them over one connection, has no limit.
func (d *Driver) LaneCap() int {
	if d.config.LaneCap > 0 {
		return d.config.LaneCap
	}
	return defaultLaneCap
}

const defaultLaneCap = 100

// InDoubtFor is the longest deadline: every request carries what was left of it
// as the server's own limit, which starts when the server reads the request. What
// is in a log by then may still be applied when a quorum comes back, but only
// before every later write of its key, none of which finds what it wants then.
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
	if d.stop != nil {
		d.stop()
	}
	d.started.Wait()
	if d.whole != nil {
		_ = d.whole.Close()
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
