package node

import (
	"bytes"
	"encoding/gob"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"brownout/infra/lab/asd/balance"
	"brownout/infra/lab/asd/fabric"
	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/record"
)

// exchangeTimeout is for all members to say what they have.
const exchangeTimeout = time.Second

// proposal is what a Prepare carries: the members of the new cluster, the principal first.
type proposal struct {
	Key     uint64
	Members []nodeid.ID
}

// holdings is what a member has, as it stands while nothing migrates.
type holdings struct {
	Versions   [record.Partitions][16]byte
	Quiesce    bool
	Factor     int // replication factor that it is set to
	Rack       int
	Service    string
	Truncation map[string]uint64
}

// agreement is what a Commit carries: all that a rebalance needs, alike for everybody.
type agreement struct {
	Key     uint64
	Members []nodeid.ID
	Has     []holdings // of Members, in their order
}

// form has the members tell what they have, and then all rebalance. If one does not answer, nothing
// has changed and it is tried again.
func (n *Node) form(members []nodeid.ID) {
	defer n.forming.Store(false)
	p := proposal{rand.Uint64() >> 16, members}
	n.log.Info("clustering", "principal node - proposing new succession list: %s", lower(members))
	n.log.Info("clustering", "paxos round started - cluster key: %012x", p.Key)
	a, ok := n.exchange(p)
	if low, high := a.factors(); ok && low != high {
		n.log.Warn("exchange", "{%s} has unmatched replication factors from %d to %d", n.conf.Namespace.Name, low, high)
		n.log.Warn("exchange", "abandoned exchange - fix configuration conflict")
		n.mu.Lock()
		n.cluster.Abandoned()
		n.mu.Unlock()
		return
	}
	if !ok {
		n.log.Warn("clustering", "paxos round aborted - cluster key: %012x", p.Key)
		n.mu.Lock()
		n.cluster.Failed(time.Now())
		n.mu.Unlock()
		return
	}
	body := encode(a)
	for _, id := range members {
		if id != n.self {
			_ = n.mesh.Send(id, fabric.Quick, fabric.Message{Kind: fabric.Commit, Key: p.Key, Body: body})
		}
	}
	n.commit(a)
}

// exchange asks all members at once for what they have.
func (n *Node) exchange(p proposal) (agreement, bool) {
	a := agreement{p.Key, p.Members, make([]holdings, len(p.Members))}
	body := encode(p)
	var all sync.WaitGroup
	answered := make([]bool, len(p.Members))
	for i, id := range p.Members {
		if id == n.self {
			a.Has[i], answered[i] = n.prepare(p), true
			continue
		}
		all.Go(func() {
			m := fabric.Message{Kind: fabric.Prepare, Key: p.Key, Body: body}
			answer, err := n.mesh.Ask(id, fabric.Quick, m, exchangeTimeout)
			answered[i] = err == nil && answer.Code == 0 && decode(answer.Body, &a.Has[i])
		})
	}
	all.Wait()
	for _, ok := range answered {
		if !ok {
			return a, false
		}
	}
	return a, true
}

// handlePrepare answers a proposal of the node that this one takes for the principal to be.
func (n *Node) handlePrepare(m fabric.Message) {
	var p proposal
	n.mu.Lock()
	leader := n.board.Leader()
	n.mu.Unlock()
	if m.From != leader || !decode(m.Body, &p) {
		n.reply(m, fabric.Quick, m.Reply(1, nil))
		return
	}
	n.log.Info("exchange", "data exchange started with cluster key %012x", p.Key)
	n.reply(m, fabric.Quick, m.Reply(0, encode(n.prepare(p))))
}

// prepare stops migrations, so that what is told of them stays true, and returns what the node has.
func (n *Node) prepare(p proposal) holdings {
	n.migrating.Store(false)
	n.mu.Lock()
	n.cluster.Whole = true
	n.state.size, n.state.prepared = len(p.Members), p.Key
	h := holdings{
		Quiesce: n.state.pending, Service: n.conf.Service.Public(),
		Factor: int(n.factor.Load()), Rack: n.conf.Namespace.Rack,
		Truncation: maps.Clone(n.truncation),
	}
	n.mu.Unlock()
	for i, part := range n.partitions {
		part.mu.Lock()
		h.Versions[i] = part.version.Pack()
		part.mu.Unlock()
	}
	return h
}

func (n *Node) handleCommit(m fabric.Message) {
	var a agreement
	n.mu.Lock()
	expected := n.state.prepared == m.Key
	n.mu.Unlock()
	if expected && decode(m.Body, &a) {
		n.log.Info("exchange", "received commit command from principal node %s", m.From.Lower())
		n.commit(a)
	}
}

// factors returns the lowest and the highest replication factor that members are set to: nodes of
// different ones form no cluster.
func (a agreement) factors() (low, high int) {
	for i, h := range a.Has {
		if i == 0 {
			low = h.Factor
		}
		low, high = min(low, h.Factor), max(high, h.Factor)
	}
	return low, high
}

// racks returns the rack of each member.
func (a agreement) racks() []int {
	racks := make([]int, len(a.Has))
	for i, h := range a.Has {
		racks[i] = h.Rack
	}
	return racks
}

// versions returns what the members have of partition i, in the order of indices.
func (a agreement) versions(i int, order []int) []balance.Version {
	versions := make([]balance.Version, len(order))
	for k, member := range order {
		versions[k] = balance.Unpack(a.Has[member].Versions[i])
	}
	return versions
}

func encode(what any) []byte {
	var buffer bytes.Buffer
	if err := gob.NewEncoder(&buffer).Encode(what); err != nil {
		panic(err) // these types can be encoded
	}
	return buffer.Bytes()
}

func decode(body []byte, into any) bool {
	return gob.NewDecoder(bytes.NewReader(body)).Decode(into) == nil
}
