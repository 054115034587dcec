// Package aerospike is the Aerospike driver of the load generator: the official
// Go client, with every policy that matters in a fault stated and recorded.
//
// In the server's namespace (option `namespace`) it keeps sets of its own, whose
// names begin with the load's namespace: `…-data`, the plain data set; `…-ledger`,
// the verified keys; `…-inserts`, what was inserted; `…-meta`, the marker that says
// whose sets these are. It touches nothing else.
package aerospike

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
)

func init() { driver.Register("aerospike", func() driver.Driver { return &Driver{} }) }

var _ driver.Driver = (*Driver)(nil)

// Driver does operations on one Aerospike cluster.
type Driver struct {
	config  driver.Config
	policy  policy
	hosts   []*client.Host
	client  *client.Client
	build   string // what the server says of itself
	sets    sets
	streams []*stream
	lanes   lanes
}

// stream is what the operations of one stream have in common.
type stream struct {
	attempts int // that the client makes of a read
	calls    sync.Pool
}

// sets are the places of the server that are ours.
// The set `client` is that of the ready client (infra/clients/aerospike_client.py).
type sets struct{ namespace, prefix, data, ledger, inserts, client, meta, claim string }

func setsOf(namespace, prefix string) sets {
	return sets{namespace, prefix, prefix + "-data", prefix + "-ledger", prefix + "-inserts", prefix + "-client",
		prefix + "-meta", prefix + "-claim"}
}

// of is the set of verified keys, or that of the plain data.
func (s sets) of(verified bool) string {
	if verified {
		return s.ledger
	}
	return s.data
}

// all lists the sets in the order in which they are removed.
func (s sets) all() []string {
	return append(s.documents(), s.data, s.ledger, s.inserts, s.client, s.meta)
}

// Open connects, finds the namespace and, where nothing is to be loaded, the data.
func (d *Driver) Open(ctx context.Context, config driver.Config) error {
	d.config = config
	var err error
	if d.policy, err = parsePolicy(config.Options, config.LaneCap); err != nil {
		return err
	}
	if d.hosts, err = hostsOf(config.URI, config.TLS); err != nil {
		return err
	}
	if d.client, err = d.connect(ctx); err != nil {
		return redacted(err, config)
	}
	if err := d.findNamespace(); err != nil {
		return redacted(err, config)
	}
	for _, s := range config.Streams {
		d.streams = append(d.streams, d.newStream(s))
	}
	if config.Reuse {
		return redacted(d.checkLoaded(ctx), config)
	}
	return nil
}

func (d *Driver) newStream(config driver.StreamConfig) *stream {
	s := &stream{attempts: 1}
	if config.RetriesItself() {
		s.attempts = client.NewPolicy().MaxRetries
	}
	s.calls.New = func() any { return d.newCall(s.attempts) }
	return s
}

// findNamespace settles which of the server's namespaces is meant, and refuses one
// that there is not.
func (d *Driver) findNamespace() error {
	answers, err := d.ask("namespaces", "build", "edition")
	if err != nil {
		return fmt.Errorf("asking %s for its namespaces: %w", d.where(), err)
	}
	d.build = strings.TrimSpace(answers["edition"] + " " + answers["build"])
	there := strings.FieldsFunc(answers["namespaces"], func(r rune) bool { return r == ';' })
	wanted := d.policy.Namespace
	if wanted == "" && len(there) == 1 {
		wanted = there[0]
	}
	if !slices.Contains(there, wanted) {
		return fmt.Errorf("the cluster at %s has no namespace %q; it has %s: "+
			"name one in the option `namespace`, in the inventory's `connection.options` or the workload's `options.aerospike`",
			d.where(), wanted, strings.Join(there, ", "))
	}
	d.sets = setsOf(wanted, d.config.Namespace)
	return nil
}

// ask puts info commands to any one node.
func (d *Driver) ask(commands ...string) (map[string]string, error) {
	node, err := d.client.Cluster().GetRandomNode()
	if err != nil {
		return nil, plain(err)
	}
	answers, err := node.RequestInfo(&client.InfoPolicy{Timeout: controlAttempt}, commands...)
	if err != nil {
		return nil, plain(err)
	}
	return answers, nil
}

func (d *Driver) where() string {
	names := make([]string, len(d.hosts))
	for i, host := range d.hosts {
		names[i] = host.String()
	}
	return strings.Join(names, ", ")
}

// LaneCap is how many of the client's connections to a node reads may take, and writes.
func (d *Driver) LaneCap() int { return d.policy.PoolSize }

// InDoubtFor is the longest deadline: every command carries what was left of it
// as the server's own limit, which starts when the server reads the command.
func (d *Driver) InDoubtFor() time.Duration { return d.config.LongestDeadline() }

// Started has nothing to do: no policy depends on the schedule.
func (d *Driver) Started(time.Time) {}

// Close disconnects.
func (d *Driver) Close() {
	if d.client != nil {
		d.client.Close()
	}
}
