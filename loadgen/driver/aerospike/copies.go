package aerospike

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"
	"github.com/aerospike/aerospike-client-go/v8/types"

	"brownout/loadgen/driver"
)

var _ driver.ReadsCopies = (*Driver)(nil)

const (
	// quietPatience is how long Copies waits until nothing migrates.
	quietPatience = 30 * time.Second
	quietPause    = 250 * time.Millisecond
	copiesBatch   = 500
	copiesTimeout = 10 * time.Second // of a batch
)

// Copies returns every node. While something migrates, a node hands reads of what it does not have
// yet on to another one, so this waits until nothing does.
//
// Afterwards a node answers reads of a partition of which it has a copy from that copy alone, as its
// master or not. Source: find_best_node and as_partition_reserve_read_tr in fabric/partition.c of
// Community Edition 8.1.2. With strong consistency only the master is read, so there is none then.
func (d *Driver) Copies(ctx context.Context) ([]driver.Copy, error) {
	var copies []driver.Copy
	err := d.controlled(ctx, func(c *control) error {
		if strong, err := c.strong(); strong || err != nil {
			return err
		}
		key, err := c.awaitQuiet(ctx)
		if err != nil {
			return err
		}
		for _, node := range c.GetNodes() {
			copies = append(copies, &nodeCopy{d: d, host: node.GetHost().String(), key: key})
		}
		return nil
	})
	return copies, err
}

// strong tells whether the namespace has strong consistency.
func (c *control) strong() (bool, error) {
	node, failure := c.Cluster().GetRandomNode()
	if failure != nil {
		return false, plain(failure)
	}
	answer, err := infoOf(node, "namespace/"+c.sets.namespace)
	return fieldsOf(answer)["strong-consistency"] == "true", err
}

// awaitQuiet waits until all nodes are in one cluster and none has anything to migrate, and returns
// the key of the cluster.
func (c *control) awaitQuiet(ctx context.Context) (string, error) {
	for started := time.Now(); ; time.Sleep(quietPause) {
		key, err := c.quiet()
		if err == nil || ctx.Err() != nil || time.Since(started) > quietPatience {
			return key, err
		}
	}
}

func (c *control) quiet() (key string, err error) {
	for _, node := range c.GetNodes() {
		seen, err := quietKey(node)
		if err == nil && key != "" && seen != key {
			err = fmt.Errorf("node %s is in another cluster than the others", node.GetHost())
		}
		if err != nil {
			return "", err
		}
		key = seen
	}
	return key, nil
}

// quietKey is the key of the cluster that a node is in, if it has nothing to migrate.
func quietKey(node *client.Node) (string, error) {
	answer, err := infoOf(node, "statistics")
	if err != nil {
		return "", err
	}
	told := fieldsOf(answer)
	key, left := told["cluster_key"], told["migrate_partitions_remaining"]
	if key == "" || key == "0" || left != "0" {
		return "", fmt.Errorf("node %s still migrates %s partitions in the cluster of key %s (wanted 0)",
			node.GetHost(), left, key)
	}
	return key, nil
}

func infoOf(node *client.Node, command string) (string, error) {
	answers, err := node.RequestInfo(&client.InfoPolicy{Timeout: controlAttempt}, command)
	if err != nil {
		return "", fmt.Errorf("asking node %s: %w", node.GetHost(), plain(err))
	}
	return answers[command], nil
}

// fieldsOf reads `name=value;…`.
func fieldsOf(answer string) map[string]string {
	fields := map[string]string{}
	for _, pair := range strings.Split(answer, ";") {
		name, value, _ := strings.Cut(pair, "=")
		fields[name] = value
	}
	return fields
}

// nodeCopy is what one node has, read by a client whose other nodes are closed, and that learns of no
// change: its map of the partitions is from after the cluster had become quiet, and holds as long as
// the cluster keeps its key.
type nodeCopy struct {
	d    *Driver
	host string
	key  string
	only *control
	node *client.Node
}

func (n *nodeCopy) Server() string { return n.host }

func (n *nodeCopy) Close() {
	if n.only != nil {
		n.only.Close()
	}
}

// open connects with the one node.
func (n *nodeCopy) open(ctx context.Context) error {
	still := &Driver{config: n.d.config, policy: n.d.policy, hosts: n.d.hosts, sets: n.d.sets}
	still.policy.TendIntervalMS = int(time.Hour.Milliseconds())
	only, err := still.control(ctx)
	if err != nil {
		return err
	}
	n.only = only
	n.only.batch.ReplicaPolicy = client.SEQUENCE // the first copy whose node is not closed
	n.only.batch.TotalTimeout = copiesTimeout
	for _, node := range only.GetNodes() {
		if node.GetHost().String() == n.host {
			n.node = node
		} else {
			node.Close()
		}
	}
	if n.node == nil {
		return fmt.Errorf("node %s has gone", n.host)
	}
	return nil
}

// Read reports the keys of whose partitions the node has a copy.
func (n *nodeCopy) Read(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	if n.only == nil {
		if err := n.open(ctx); err != nil {
			return redacted(err, n.d.config)
		}
	}
	for batch := range slices.Chunk(ids, copiesBatch) {
		backs, err := n.batch(ctx, n.d.sets.of(verified), batch, counter)
		if err == nil {
			err = n.unchanged() // or another node may have answered
		}
		if err != nil {
			return redacted(err, n.d.config)
		}
		for _, back := range backs {
			each(back)
		}
	}
	return nil
}

func (n *nodeCopy) unchanged() error {
	key, err := quietKey(n.node)
	if err == nil && key != n.key {
		err = errors.New("the cluster changed while copies were read")
	}
	return err
}

// batch is what the node has of a batch, of those keys that belong there.
func (n *nodeCopy) batch(ctx context.Context, set string, ids []string, counter bool) ([]driver.ReadBack, error) {
	policy := client.NewBatchReadPolicy()
	policy.ReadModeAP = client.ReadModeAPOne // or a master asks the others
	var own []string
	var records []client.BatchRecordIfc
	for _, id := range ids {
		key := n.only.key(set, id)
		partition, err := client.PartitionForRead(n.only.Cluster(), &n.only.batch.BasePolicy, key)
		if err != nil {
			return nil, plain(err)
		}
		if _, err := partition.GetNodeRead(n.only.Cluster()); err == nil {
			own, records = append(own, id), append(records, client.NewBatchRead(policy, key, nil))
		}
	}
	if len(records) == 0 {
		return nil, ctx.Err()
	}
	_ = n.only.BatchOperate(n.only.batch, records) // each key says how it fared
	backs := make([]driver.ReadBack, len(own))
	for i, id := range own {
		switch got := records[i].BatchRec(); {
		case got.ResultCode == types.OK && got.Record != nil:
			backs[i] = takeApart(id, got.Record.Bins).ReadBack(id, counter)
		case got.ResultCode == types.KEY_NOT_FOUND_ERROR:
			backs[i] = driver.ReadBack{ID: id, Missing: true}
		default:
			return nil, fmt.Errorf("reading its own copies: %s", codeText(got.ResultCode))
		}
	}
	return backs, ctx.Err()
}
