package node

import (
	"slices"
	"time"

	"brownout/infra/lab/asd/balance"
	"brownout/infra/lab/asd/nodeid"
)

// commit makes an agreement this node's cluster: every partition gets its new role, and the
// migrations that this takes are queued.
func (n *Node) commit(a agreement) {
	n.forget(a)
	quiesced := n.join(a)
	factor, _ := a.factors()
	replicas, racks := min(factor, len(a.Members)-count(quiesced)), a.racks()
	n.log.Info("partition", "{%s} replication factor is %d", n.conf.Namespace.Name, replicas)
	n.incoming.Store(0)
	n.moves.reset()
	n.tasks.clear()
	var tasks []task
	fresh := 0
	for i, p := range n.partitions {
		order := balance.Spread(balance.Succession(i, a.Members, quiesced), racks, quiesced, replicas)
		layout := balance.Layout{
			Key: a.Key, Replicas: replicas, Versions: a.versions(i, order), Nodes: pick(a.Members, order),
		}
		role := layout.Of(slices.Index(layout.Nodes, n.self))
		if role.Fresh {
			fresh++
		}
		tasks = append(tasks, n.assume(p, layout, role)...)
	}
	if err := n.device.SaveStaged(); err != nil {
		n.log.Warn("drv_ssd", "{%s} saving the partitions: %v", n.conf.Namespace.Name, err)
	}
	n.finish(a, replicas, fresh)
	n.tasks.add(tasks...)
}

// join applies the cluster and returns which members are quiesced; if all are, none is.
func (n *Node) join(a agreement) []bool {
	quiesced := make([]bool, len(a.Members))
	for i, h := range a.Has {
		quiesced[i] = h.Quiesce
	}
	if count(quiesced) == len(quiesced) {
		clear(quiesced)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cluster.Join(a.Key, a.Members, time.Now())
	n.key.Store(a.Key)
	n.state.quiesced = map[nodeid.ID]bool{}
	n.quiesced.Store(false)
	n.state.peers, n.state.racks = nil, map[nodeid.ID]int{}
	for i, id := range a.Members {
		n.state.quiesced[id], n.state.racks[id] = quiesced[i], a.Has[i].Rack
		if id == n.self {
			n.quiesced.Store(quiesced[i])
		} else {
			n.state.peers = append(n.state.peers, peer{id, a.Has[i].Service})
			n.state.alumni[id] = peer{id, a.Has[i].Service}
		}
	}
	slices.Reverse(n.state.peers)
	n.state.peersChanged++
	n.log.Info("clustering", "applied new cluster key %012x", a.Key)
	n.log.Info("clustering", "applied new succession list: %s", lower(a.Members))
	n.log.Info("clustering", "applied cluster size %d", len(a.Members))
	return quiesced
}

// assume gives a partition its role and returns the migrations that begin at once.
func (n *Node) assume(p *partition, l balance.Layout, role balance.Role) []task {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodes, p.replicas, p.immigrates = l.Nodes, l.Nodes[:l.Replicas], role.Immigrates
	p.final, p.proxy = role.Final, role.Working
	p.working = 0
	if l.Nodes[0] == n.self || role.Working == n.self {
		p.working = role.Working
	}
	p.duplicates, p.witnesses = role.Duplicates, role.Witnesses
	p.pendingIn, p.pendingOut = role.Immigrants, len(role.Emigrates)+role.Later
	clear(p.coming)
	p.arrived = nil
	p.version = role.Version
	if role.Drop {
		n.giveUp(p)
	}
	n.device.StagePartition(p.id, p.version.Pack())
	n.refresh(p)
	n.moves.expect(p.pendingIn, p.pendingOut, len(role.Emigrates), len(role.Witnesses))
	var tasks []task
	for _, to := range role.Emigrates {
		tasks = append(tasks, task{pid: p.id, to: to, key: l.Key, lead: true, acting: p.working == n.self && l.Nodes[0] != n.self})
	}
	return tasks
}

// setVersion changes what the node has of a partition, on the device too. The partition is locked.
func (n *Node) setVersion(p *partition, v balance.Version) {
	p.version = v
	if err := n.device.SavePartition(p.id, v.Pack()); err != nil {
		n.log.Warn("drv_ssd", "{%s:%d} saving the version: %v", n.conf.Namespace.Name, p.id, err)
	}
}

// giveUp drops a copy that is not needed from here any more. A quiesced node keeps it as a part of
// the whole, so that little is to be moved when it comes back. The partition is locked.
func (n *Node) giveUp(p *partition) {
	if n.quiesced.Load() {
		p.version = balance.Version{Key: p.final.Key, Subset: true}
		return
	}
	for digest := range p.records {
		n.device.Remove(digest)
	}
	clear(p.records)
	p.version = balance.Version{}
}

// refresh counts a change of what clients are told of a partition. The partition is locked.
func (n *Node) refresh(p *partition) {
	if p.refreshOwned(n.self) && n.generation.Load() >= 0 {
		n.generation.Add(1)
	}
}

// finish lets migrations and clients in.
func (n *Node) finish(a agreement, replicas, fresh int) {
	n.mu.Lock()
	n.state.replication, n.state.size, n.state.fresh = replicas, len(a.Members), fresh
	n.state.rebalanced = time.Now()
	n.state.rebalances++
	n.mu.Unlock()
	n.generation.Add(1) // from -1: there is a map now
	n.migrating.Store(true)
	out, in, signals := n.moves.expected()
	n.log.Info("partition", "{%s} rebalanced: expected-migrations (%d,%d,%d) fresh-partitions %d",
		n.conf.Namespace.Name, out, in, signals, fresh)
}

func pick(ids []nodeid.ID, order []int) []nodeid.ID {
	picked := make([]nodeid.ID, len(order))
	for i, k := range order {
		picked[i] = ids[k]
	}
	return picked
}

func count(set []bool) int {
	total := 0
	for _, b := range set {
		if b {
			total++
		}
	}
	return total
}
