package node

import (
	"brownout/infra/lab/asd/fabric"
)

// truncated returns the moment up to which records of a set are forgotten.
func (n *Node) truncated(set string) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.truncation[set]
}

// truncate forgets all records of a set, here and on every peer. Nodes that are away learn of it
// when they come back.
func (n *Node) truncate(set string) {
	upTo := n.clock()
	n.truncateUpTo(set, upTo)
	n.mu.Lock()
	peers := n.board.Sees()
	n.mu.Unlock()
	m := fabric.Message{Kind: fabric.Truncate, Body: []byte(set), ID: upTo}
	for _, id := range peers {
		_ = n.mesh.Send(id, fabric.Quick, m)
	}
}

// forget makes all truncations that any member knows of.
func (n *Node) forget(a agreement) {
	for _, h := range a.Has {
		for set, upTo := range h.Truncation {
			if upTo > n.truncated(set) {
				n.truncateUpTo(set, upTo)
			}
		}
	}
}

func (n *Node) truncateUpTo(set string, upTo uint64) {
	n.mu.Lock()
	n.truncation[set] = max(n.truncation[set], upTo)
	n.mu.Unlock()
	for _, p := range n.partitions {
		p.mu.Lock()
		for digest, r := range p.records {
			if r.Set == set && r.Updated <= upTo {
				n.store(p, digest, nil)
			}
		}
		p.mu.Unlock()
	}
	n.log.Info("truncate", "{%s|%s} truncated records up to %d", n.conf.Namespace.Name, set, upTo)
}
