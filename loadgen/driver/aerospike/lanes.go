package aerospike

import (
	"sync"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
)

// A lane is the node that the client would send the operation to now: by its map
// of partitions the owner of the key's partition, named by its address; for reads
// and writes alike the next replica if the owner is known to be gone, and
// "unrouted" while there is none. A batch asks several nodes: "nodes".
const (
	laneUnrouted = "unrouted"
	laneNodes    = "nodes"
)

// lanes remembers the names of nodes.
type lanes struct{ names sync.Map } // *client.Node: string

func (l *lanes) of(node *client.Node) string {
	if name, ok := l.names.Load(node); ok {
		return name.(string)
	}
	name := node.GetHost().String()
	l.names.Store(node, name)
	return name
}

// Lane names the node that the client would choose for op now.
func (d *Driver) Lane(op *driver.Op) string {
	if op.Kind == driver.Batch {
		return laneNodes
	}
	c := d.streams[op.Stream].callFor(op)
	op.Prepared = c
	node := d.nodeFor(c, op)
	if node == nil {
		return laneUnrouted
	}
	return d.lanes.of(node)
}

func (d *Driver) nodeFor(c *call, op *driver.Op) *client.Node {
	key, cluster := c.key, d.client.Cluster()
	if op.Kind == driver.Read {
		partition, err := client.PartitionForRead(cluster, &c.read, key)
		if err != nil {
			return nil
		}
		node, _ := partition.GetNodeRead(cluster)
		return node
	}
	partition, err := client.PartitionForWrite(cluster, &c.write.BasePolicy, key)
	if err != nil {
		return nil
	}
	node, _ := partition.GetNodeWrite(cluster)
	return node
}
