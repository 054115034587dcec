package member

import (
	"slices"
	"time"

	"brownout/infra/lab/asd/nodeid"
)

// How long the principal lets things settle before it proposes a cluster, as shares of the time after
// which a silent node is taken for gone. With 150 ms × 10 these are 450, 650, 1,400 and 1,900 ms, as
// timed on the real server.
const (
	afterDeparture     = 0.30
	afterPrincipalLost = 0.43
	afterArrival       = 0.93
	afterStraying      = 1.27
	// strayingGrace is for heartbeats that were on their way when the cluster changed.
	strayingGrace = 0.33
)

// Cluster is what a node believes to be a member of, and when that is to change. Its zero key is
// the state of an orphan, in which a node starts.
type Cluster struct {
	board *Board

	Key     uint64
	Members []nodeid.ID // the highest first; it is the principal
	// Whole tells whether the node is a member of a cluster with a principal that it hears.
	Whole bool

	joined time.Time // when the key was applied

	// abandoned tells that the members cannot agree on a cluster: nothing is proposed before one
	// of them goes or another comes.
	abandoned bool
	due       time.Time // when the leader is to propose; zero is not at all
	straying  bool      // it is to propose only because members strayed
}

// NewCluster returns the cluster of an orphan.
func NewCluster(board *Board) *Cluster { return &Cluster{board: board} }

// Principal returns the principal of the cluster; zero for an orphan.
func (c *Cluster) Principal() nodeid.ID {
	if len(c.Members) == 0 {
		return 0
	}
	return c.Members[0]
}

// Told returns the cluster key that the node's heartbeats carry. It is zero once the node has lost
// its principal, even if it hears the principal again: that one may have noticed nothing, and the
// zero makes it form the cluster anew.
func (c *Cluster) Told() uint64 {
	if !c.Whole {
		return 0
	}
	return c.Key
}

// Started notes that the node begins to listen.
func (c *Cluster) Started(now time.Time) { c.dueAfter(now, afterArrival) }

// Arrived notes that a node was heard for the first time.
func (c *Cluster) Arrived(now time.Time) {
	c.abandoned = false
	c.dueAfter(now, afterArrival)
}

// Departed notes that nodes are not heard any more; true if the principal is one of them, which
// leaves this node without a cluster that has a principal.
func (c *Cluster) Departed(gone []nodeid.ID, now time.Time) (lost bool) {
	lost = slices.Contains(gone, c.Principal())
	c.abandoned = false
	if lost {
		c.Whole = false
		c.dueAfter(now, afterPrincipalLost)
	} else {
		c.dueAfter(now, afterDeparture)
	}
	return lost
}

// Recluster asks for a new cluster of the same members; false if they cannot have one.
func (c *Cluster) Recluster(now time.Time) bool {
	if c.abandoned {
		return false
	}
	c.due, c.straying = now, false
	return true
}

// Proposal returns the members of the cluster that this node is to propose now, if it is to.
func (c *Cluster) Proposal(now time.Time) ([]nodeid.ID, bool) {
	c.watchForStraying(now)
	if c.due.IsZero() || now.Before(c.due) || c.board.Leader() != c.board.self {
		return nil, false
	}
	c.due, c.straying = time.Time{}, false
	return c.board.Mutual(), true
}

// watchForStraying finds members that have another key, as one has that was restarted before
// it was missed, and members that are heard and were left out. A member that was only slow to
// apply the cluster has the key by the time a new one is due, and then none is proposed.
func (c *Cluster) watchForStraying(now time.Time) {
	if c.Key == 0 || now.Sub(c.joined) < c.share(strayingGrace) || c.board.Leader() != c.board.self {
		return
	}
	wanted := c.board.Mutual()
	astray := (!slices.Equal(wanted, c.Members) && !c.abandoned) || c.board.Astray(c.Members, c.Key)
	switch {
	case astray && c.due.IsZero():
		c.dueAfter(now, afterStraying)
		c.straying = true
	case !astray && c.straying:
		c.due, c.straying = time.Time{}, false
	}
}

// Failed notes that a proposal was not accepted by everyone; it is made again.
func (c *Cluster) Failed(now time.Time) { c.dueAfter(now, afterDeparture) }

// Abandoned notes that the members cannot agree; the same ones are not asked again.
func (c *Cluster) Abandoned() { c.abandoned = true }

// Join applies a cluster that everybody accepted.
func (c *Cluster) Join(key uint64, members []nodeid.ID, now time.Time) {
	c.Key, c.Members, c.Whole, c.joined, c.abandoned = key, members, true, now, false
	c.due, c.straying = time.Time{}, false // what came up meanwhile is found by watchForStraying
}

func (c *Cluster) dueAfter(now time.Time, share float64) {
	c.straying = false
	if at := now.Add(c.share(share)); at.After(c.due) {
		c.due = at
	}
}

func (c *Cluster) share(share float64) time.Duration {
	return time.Duration(share * float64(c.board.timeout))
}
