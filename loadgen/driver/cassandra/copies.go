package cassandra

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

var _ driver.ReadsCopies = (*Driver)(nil)

// nodeLocal is the consistency at which the node that is asked answers from what it has stored
// itself, and asks no other. It serves so only if its JVM has -Dcassandra.enable_nodelocal_queries=true.
//
// Source: ConsistencyLevel and QueryProcessor.processNodeLocalStatement of Cassandra 5.0.
const nodeLocal = gocql.Consistency(11)

// copiesBatch is how many rows of one node are asked for at a time.
const copiesBatch = 200

// Copies returns every node, if each one has a copy of every record. It returns none where a node does
// not tell its own copy, or where there are more nodes than copies: whether a node that has no row
// should have it is not known then, nor whether one that has it still should.
func (d *Driver) Copies(ctx context.Context) ([]driver.Copy, error) {
	c, err := d.control(ctx)
	if err != nil {
		return nil, redacted(err, d.config)
	}
	copies, err := c.copies(ctx)
	if len(copies) == 0 {
		c.Close()
	}
	return copies, redacted(err, d.config)
}

func (c *control) copies(ctx context.Context) (copies []driver.Copy, err error) {
	hosts := c.session.GetHosts()
	if has, err := c.everyNodeHasAll(ctx, hosts); err != nil || !has {
		return nil, err
	}
	done := sync.OnceFunc(c.Close)
	for _, host := range hosts {
		n := &nodeCopy{c, host.HostID(), addressOf(host), done}
		var key string
		err := n.query("SELECT key FROM system.local").ScanContext(ctx, &key)
		var spoken gocql.RequestError
		if errors.As(err, &spoken) && slices.Contains([]int{gocql.ErrCodeInvalid, gocql.ErrCodeProtocol}, spoken.Code()) {
			return nil, nil
		}
		copies = append(copies, n) // one that gives no answer now says so when it is read
	}
	return copies, nil
}

// everyNodeHasAll tells whether the keyspace has as many copies in each data centre as there are nodes.
func (c *control) everyNodeHasAll(ctx context.Context, hosts []*gocql.HostInfo) (bool, error) {
	var replication map[string]string
	err := c.try(ctx, func(ctx context.Context) error {
		return c.session.Query("SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?",
			c.config.Namespace).Consistency(gocql.One).ScanContext(ctx, &replication)
	})
	if err != nil {
		return false, err
	}
	nodes := map[string]int{} // by data centre
	for _, host := range hosts {
		nodes[host.DataCenter()]++
	}
	simple := strings.HasSuffix(replication["class"], "SimpleStrategy")
	if simple {
		nodes = map[string]int{"replication_factor": len(hosts)}
	}
	for setting := range maps.Keys(nodes) {
		factor, _, _ := strings.Cut(replication[setting], "/") // less transient ones: they keep no data
		if n, err := strconv.Atoi(factor); err != nil || n < nodes[setting] || factor != replication[setting] {
			return false, nil
		}
	}
	return true, nil
}

// nodeCopy is what one node has.
type nodeCopy struct {
	*control
	host    string // its id
	address string
	done    func()
}

func (n *nodeCopy) Server() string { return n.address }
func (n *nodeCopy) Close()         { n.done() }

func (n *nodeCopy) query(statement string, values ...any) *gocql.Query {
	return n.session.Query(statement, values...).SetHostID(n.host).Consistency(nodeLocal)
}

func (n *nodeCopy) Read(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	for batch := range slices.Chunk(ids, copiesBatch) {
		found, err := n.found(ctx, verified, batch, counter)
		if err != nil {
			return redacted(fmt.Errorf("its own copies: %w", err), n.config)
		}
		for _, id := range batch {
			each(readBack(id, found[id], counter))
		}
	}
	return nil
}

// found is what the node has of a batch.
func (n *nodeCopy) found(ctx context.Context, verified bool, ids []string, counter bool) (map[string]*driver.Found, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	records, counters := n.tablesOf(verified)
	found := make(map[string]*driver.Found, len(ids))
	if counter {
		iter := n.query("SELECT id, n FROM "+counters+" WHERE id IN ?", ids).IterContext(ctx)
		var id string
		for count := (*int64)(nil); iter.Scan(&id, &count); count = nil {
			if count != nil {
				found[id] = &driver.Found{Count: *count, Counter: true}
			}
		}
		return found, iter.Close()
	}
	iter := n.query("SELECT "+columns+" FROM "+records+" WHERE id IN ?", ids).IterContext(ctx)
	for one := (row{}); one.scan(iter); {
		found[one.id] = one.found()
	}
	return found, iter.Close()
}
