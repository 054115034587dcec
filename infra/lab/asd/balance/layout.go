package balance

import (
	"slices"

	"brownout/infra/lab/asd/nodeid"
)

// Layout is one partition at one rebalance: who is to have it, in order, and what they have of it.
// Nodes[0] is the final master, the first Replicas of them are the replicas.
type Layout struct {
	Key      uint64 // of the new cluster
	Nodes    []nodeid.ID
	Versions []Version
	Replicas int
}

// Role is what a layout means for one node until the migrations it asks for are done.
type Role struct {
	Version, Final Version
	Fresh          bool // no node had the partition: it starts empty
	Drop           bool // not a replica, and nothing to hand over
	Working        nodeid.ID
	// Duplicates have content that the working master may miss; only the final and the working
	// master know them.
	Duplicates []nodeid.ID
	Immigrates []bool // by replica: is to be filled
	Immigrants int    // how many nodes send to this one
	Emigrates  []nodeid.ID
	Later      int         // more of them, once everything has come in
	Witnesses  []nodeid.ID // told when all is done, so that they can drop what is left over
}

// plan is what all nodes conclude alike from a layout.
type plan struct {
	Layout
	working    int // index of the working master; -1 means none
	duplicates []int
	immigrates []bool
}

// Of returns the role of Nodes[self].
func (l Layout) Of(self int) Role {
	p := l.plan()
	role := Role{
		Final:      Version{Key: l.Key, Master: self == 0},
		Version:    l.Versions[self],
		Immigrates: p.immigrates,
		Working:    l.Nodes[max(p.working, 0)],
	}
	switch {
	case p.working < 0:
		role.Fresh = true
		if self < l.Replicas {
			role.Version = role.Final
		}
	case slices.Contains(p.immigrates, true):
		role.Version = p.advanced(self, role.Final)
		p.assign(self, &role)
	case self < l.Replicas:
		role.Version = role.Final
	default:
		role.Drop = role.Version.HasData()
	}
	return role
}

func (l Layout) plan() plan {
	p := plan{Layout: l, working: l.workingMaster(), immigrates: make([]bool, l.Replicas)}
	if p.working < 0 {
		return p
	}
	p.duplicates = l.duplicatesOf(p.working)
	for i := range p.immigrates {
		v := l.Versions[i]
		incomplete := i != p.working && (!v.HasData() || v.Subset)
		p.immigrates[i] = len(p.duplicates) > 0 || incomplete
	}
	return p
}

// workingMaster returns who answers until migrations are done: who was master before, or a node
// nearer to the front with all that one has; else the best copy, -1 if there is none.
func (l Layout) workingMaster() int {
	best, score := -1, -1
	for i, v := range l.Versions {
		if !v.HasData() {
			continue
		}
		if v.Master {
			return l.shifted(i)
		}
		if s := worth(v); s > score {
			best, score = i, s
		}
	}
	return best
}

func worth(v Version) int {
	score := 3
	if v.Subset {
		score--
	}
	if v.Evade {
		score -= 2
	}
	return score
}

// shifted returns the first node that has all of what the master i has: no need to wait for it.
func (l Layout) shifted(i int) int {
	if l.Versions[i].Subset {
		return i
	}
	for n := range i {
		if l.Versions[n].whole(l.Versions[i]) {
			return n
		}
	}
	return i
}

// duplicatesOf returns one node of each distinct content but the working master's. A subset counts
// only where no node has the whole of it.
func (l Layout) duplicatesOf(working int) []int {
	var nodes []int
	var parents []Version
	known := func(v Version) bool { return slices.ContainsFunc(parents, v.related) }
	for i, v := range l.Versions {
		if v.HasData() && !v.Subset && !known(v) {
			nodes, parents = append(nodes, i), append(parents, v)
		}
	}
	for i, v := range l.Versions {
		if v.HasData() && v.Subset && !known(v) {
			nodes = append(nodes, i)
		}
	}
	return slices.DeleteFunc(nodes, func(i int) bool { return i == working })
}
