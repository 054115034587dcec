package node

import (
	"slices"
	"sync"

	"brownout/infra/lab/asd/balance"
	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/record"
)

// maxColumns is how many replicas clients are told of.
const maxColumns = 8

// partition is one of the 4,096 parts of the namespace, as this node has it and sees it. Its lock
// guards everything in it; nothing that waits happens under it.
type partition struct {
	id int
	mu sync.Mutex

	version, final balance.Version
	nodes          []nodeid.ID // the succession; empty before there is a cluster
	replicas       []nodeid.ID // the first of them
	working        nodeid.ID   // known to the final and the working master only
	proxy          nodeid.ID   // to whom everybody else hands requests on
	duplicates     []nodeid.ID
	immigrates     []bool
	pendingIn      int
	pendingOut     int
	witnesses      []nodeid.ID

	records map[record.Digest]*record.Record
	busy    map[record.Digest]*turn
	owned   [maxColumns]bool  // what clients are told
	coming  map[nodeid.ID]int // records of the migrations under way, by sender
	arrived []nodeid.ID       // senders of migrations that are over
}

func newPartition(id int) *partition {
	return &partition{
		id:      id,
		records: map[record.Digest]*record.Record{},
		busy:    map[record.Digest]*turn{},
		coming:  map[nodeid.ID]int{},
	}
}

// column returns which replica self is, -1 if none.
func (p *partition) column(self nodeid.ID) int { return slices.Index(p.replicas, self) }

// isFinalMaster tells whether self is to be the master once all is done.
func (p *partition) isFinalMaster(self nodeid.ID) bool {
	return len(p.replicas) > 0 && p.replicas[0] == self
}

// best returns who is to do a request: the working master, or for a read a replica that has all;
// zero if the partition is not available.
func (p *partition) best(self nodeid.ID, read bool) nodeid.ID {
	switch {
	case len(p.replicas) == 0:
		return 0
	case p.working != 0:
		return p.working
	case read && p.pendingIn == 0 && p.column(self) > 0:
		return self
	}
	return p.proxy
}

// others returns the replicas but self: those that a write must reach.
func (p *partition) others(self nodeid.ID) []nodeid.ID {
	var others []nodeid.ID
	for _, id := range p.replicas {
		if id != self {
			others = append(others, id)
		}
	}
	return others
}

// refreshOwned works out what clients are to be told and returns whether that has changed. The
// working master stands in for every replica that is still to be filled.
func (p *partition) refreshOwned(self nodeid.ID) bool {
	var owned [maxColumns]bool
	mine := p.column(self)
	master := len(p.replicas) > 0 && p.working == self
	for i := range min(len(p.replicas), maxColumns) {
		owned[i] = master && (i == 0 || mine == i || p.immigrates[i])
		if !master && i == mine && i > 0 && p.pendingIn == 0 {
			owned[i] = true
		}
	}
	changed := owned != p.owned
	p.owned = owned
	return changed
}

// has returns the record of a digest; nil if there is none.
func (p *partition) has(digest record.Digest) *record.Record { return p.records[digest] }
