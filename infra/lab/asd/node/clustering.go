package node

import (
	"context"
	"time"

	"brownout/infra/lab/asd/fabric"
	"brownout/infra/lab/asd/nodeid"
)

// clusterTick is how often the loop looks at the time, as often as the server does
// (CLUSTERING_TIMER_TICK_INTERVAL in its clustering.c).
const clusterTick = 75 * time.Millisecond

// hear hands heartbeats to the clustering loop.
func (n *Node) hear(ctx context.Context) func(fabric.Pulse) {
	return func(p fabric.Pulse) {
		if p.Cluster != n.conf.ClusterName {
			return
		}
		select {
		case n.heard <- p:
		case <-ctx.Done():
		}
	}
}

// pulse returns this node's heartbeat.
func (n *Node) pulse() fabric.Pulse {
	n.mu.Lock()
	defer n.mu.Unlock()
	return fabric.Pulse{
		From: n.self, Cluster: n.conf.ClusterName, Key: n.cluster.Told(),
		Heartbeat: n.conf.Heartbeat.Public(), Fabric: n.conf.Fabric.Public(), Service: n.conf.Service.Public(),
		Sees: n.board.Sees(), Contacts: n.board.Heard(),
	}
}

// clustering takes heartbeats in, notices who is missing, and has a new cluster formed when it is
// time. Before anything that was heard it looks who has expired: a process that was stopped for
// long finds everybody gone first, and then back.
func (n *Node) clustering(ctx context.Context) {
	tick := fabric.Together(clusterTick)
	defer tick.Stop()
	n.mu.Lock()
	n.cluster.Started(time.Now())
	n.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-n.heard:
			n.expire(time.Now())
			n.take(p, time.Now())
		case <-tick.C:
			n.expire(time.Now())
			n.follow()
			n.propose(time.Now())
		}
	}
}

func (n *Node) take(p fabric.Pulse, now time.Time) {
	n.mu.Lock()
	arrived := n.board.Hear(p, now)
	if arrived {
		n.cluster.Arrived(now)
	}
	n.mu.Unlock()
	if arrived {
		n.mesh.Arrive(p.From, p.Fabric)
		n.log.Info("hb", "node arrived %s", p.From.Lower())
	}
}

func (n *Node) expire(now time.Time) {
	n.mu.Lock()
	gone := n.board.Expire(now)
	lost := len(gone) > 0 && n.cluster.Departed(gone, now)
	principal := n.cluster.Principal()
	n.mu.Unlock()
	for _, id := range gone {
		n.log.Info("hb", "node expired %s", id.Lower())
		n.mesh.Depart(id)
		n.log.Info("fabric", "fabric: node %s departed", id.Lower())
	}
	if lost {
		n.migrating.Store(false)
		n.log.Info("clustering", "principal node %s departed - switching to orphan state", principal.Lower())
	}
}

// follow dials all that can be heard of, so that it is enough to know one of them.
func (n *Node) follow() {
	n.mu.Lock()
	forgotten := n.board.Forget(time.Now())
	contacts := n.board.Contacts()
	n.mu.Unlock()
	n.dialing.Follow(contacts)
	for _, id := range forgotten {
		n.log.Info("hb", "mesh forgetting node %s", id.Lower())
	}
}

func (n *Node) propose(now time.Time) {
	if n.forming.Load() {
		return
	}
	n.mu.Lock()
	members, due := n.cluster.Proposal(now)
	n.mu.Unlock()
	if due {
		n.forming.Store(true)
		go n.form(members)
	}
}

// recluster answers the info command of that name.
func (n *Node) recluster() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.cluster.Principal() != n.self:
		return "ignored-by-non-principal"
	case n.forming.Load() || !n.cluster.Recluster(time.Now()):
		return "ERROR::unknown"
	}
	return "ok"
}

func lower(ids []nodeid.ID) string { return nodeid.Join(ids, " ", nodeid.ID.Lower) }
