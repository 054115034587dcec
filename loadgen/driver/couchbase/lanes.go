package couchbase

import (
	"strings"

	"github.com/couchbase/gocbcore/v10"

	"brownout/loadgen/driver"
)

// A lane is the node that has the active copy of the key's vbucket, by the client's own map.
//
//	one key                          the node's address
//	keys of several nodes            "nodes"
//	the map has none for the key     "unrouted"
const (
	laneNodes    = "nodes"
	laneUnrouted = "unrouted"
)

// Lane names the node that has the key.
func (d *Driver) Lane(op *driver.Op) string {
	at := d.whereabouts()
	switch {
	case op.Document != nil:
		return at.of(d.keys().Document(op.Document.Set, op.Document.ID))
	case op.Kind != driver.Batch:
		return at.of(d.keys().Key(op.Verified, op.ID))
	}
	lane := ""
	for _, id := range op.IDs {
		its := at.of(d.keys().Key(op.Verified, id))
		if lane != "" && its != lane {
			return laneNodes
		}
		lane = its
	}
	return lane
}

// whereabouts is the map at one moment; it has no snapshot where there is no map.
type whereabouts struct {
	snapshot *gocbcore.ConfigSnapshot
	nodes    []string
}

func (d *Driver) whereabouts() whereabouts {
	snapshot, err := d.agent.ConfigSnapshot()
	if err != nil {
		return whereabouts{}
	}
	return whereabouts{snapshot, d.agent.MemdEps()}
}

func (w whereabouts) of(key string) string {
	if w.snapshot == nil {
		return laneUnrouted
	}
	server, err := w.snapshot.KeyToServer([]byte(key), 0)
	if err != nil || server < 0 || server >= len(w.nodes) {
		return laneUnrouted
	}
	_, address, _ := strings.Cut(w.nodes[server], "://")
	return address
}
