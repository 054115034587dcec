package node

import (
	"encoding/base64"
	"fmt"
	"strings"

	"brownout/infra/lab/asd/record"
)

// replicas writes which partitions clients find here, one bitmap a replica: `test:0,2,<base64>,…`.
func (n *Node) replicas(regime bool, most int) string {
	columns := max(1, min(most, n.snapshot().replication))
	var out strings.Builder
	out.WriteString(n.conf.Namespace.Name + ":")
	if regime {
		out.WriteString("0,")
	}
	fmt.Fprint(&out, columns)
	for _, bitmap := range n.bitmaps(columns) {
		out.WriteString("," + base64.StdEncoding.EncodeToString(bitmap))
	}
	return out.String()
}

func (n *Node) replicasMaster() string {
	return n.conf.Namespace.Name + ":" + base64.StdEncoding.EncodeToString(n.bitmaps(1)[0])
}

func (n *Node) bitmaps(columns int) [][]byte {
	maps := make([][]byte, columns)
	for c := range maps {
		maps[c] = make([]byte, record.Partitions/8)
	}
	for i, p := range n.partitions {
		p.mu.Lock()
		for c := range maps {
			if p.owned[c] {
				maps[c][i/8] |= 0x80 >> (i % 8)
			}
		}
		p.mu.Unlock()
	}
	return maps
}

const partitionColumns = "namespace:partition:state:n_replicas:replica:succession:n_dupl:" +
	"working_master:proxy_dst:emigrates:lead_emigrates:immigrates:records:tombstones:regime:" +
	"tree_id:version:final_version"

// partitionInfo writes one line of columns a partition, as the node sees it.
func (n *Node) partitionInfo() string {
	lines := []string{partitionColumns}
	for _, p := range n.partitions {
		p.mu.Lock()
		lines = append(lines, n.conf.Namespace.Name+":"+p.describe(n))
		p.mu.Unlock()
	}
	return strings.Join(lines, ";")
}

func (p *partition) describe(n *Node) string {
	place := -1
	for i, id := range p.nodes {
		if id == n.self {
			place = i
		}
	}
	return fmt.Sprintf("%d:%s:%d:%d:%d:%d:%s:%s:%d:0:%d:%d:0:0:0:%s:%s",
		p.id, p.letter(n), len(p.replicas), p.column(n.self), place, len(p.duplicates),
		principalName(p.working), principalName(p.proxy), p.pendingOut, p.pendingIn, len(p.records),
		p.version, p.final)
}

// letter says what the node is to the partition: a replica that is synchronized or is to be filled
// (desynchronized), neither and without data (absent), or with it (a zombie).
func (p *partition) letter(n *Node) string {
	switch {
	case p.column(n.self) >= 0 && p.pendingIn == 0:
		return "S"
	case p.column(n.self) >= 0:
		return "D"
	case p.version.HasData():
		return "Z"
	}
	return "A"
}
