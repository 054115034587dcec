package node

import (
	"time"

	"brownout/infra/lab/asd/operate"
	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

// write changes a record here and on every replica, and answers when all have it. moved tells that
// another node has become the one to ask.
func (n *Node) write(p *partition, t *transaction) (answer wire.Answer, moved bool) {
	if n.stopWrites() {
		return wire.Answer{Code: wire.OutOfSpace}, false
	}
	if code := p.enter(t.digest, n.conf.Namespace.PendingLimit, t.deadline); code != wire.OK {
		return wire.Answer{Code: code}, false
	}
	defer p.leave(t.digest)
	if !n.resolve(p, t) {
		return wire.Answer{Code: wire.Timeout}, false
	}
	done, moved := n.change(p, t)
	if moved || done.Code != wire.OK {
		return wire.Answer{Code: done.Code}, moved
	}
	answer = wire.Answer{Ops: done.Ops}
	if done.Record != nil {
		answer.Generation = uint32(done.Record.Generation)
	}
	if done.Changed && !n.replicate(p, t, done.Record) {
		return wire.Answer{Code: wire.Timeout}, false
	}
	return answer, false
}

// change applies the request to this node's own copy.
func (n *Node) change(p *partition, t *transaction) (done operate.Outcome, moved bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.best(n.self, false) != n.self {
		return done, true
	}
	done = operate.Write(p.has(t.digest), t.digest, t.Request, n.clock())
	if done.Changed {
		n.store(p, t.digest, done.Record)
	}
	return done, false
}

// store puts a record, or with nil its absence, into the partition and onto the device. The
// partition is locked.
func (n *Node) store(p *partition, digest record.Digest, r *record.Record) {
	if r == nil {
		delete(p.records, digest)
		n.device.Remove(digest)
		return
	}
	p.records[digest] = r
	n.device.Put(r)
}

// merge stores a record that came from another node if it is better than what is here, provided
// that the partition still wants it. The partition is locked.
func (n *Node) merge(p *partition, r *record.Record, policy record.Policy) bool {
	if r.Updated <= n.truncated(r.Set) || !policy.Better(p.has(r.Digest), r) {
		return false
	}
	n.store(p, r.Digest, r)
	return true
}

// clock returns the time that records carry.
func (n *Node) clock() uint64 { return uint64(time.Now().UnixMilli() - record.EpochMs) }

// stopWrites tells whether the device is too full for clients' writes.
func (n *Node) stopWrites() bool {
	return n.usedPercent() >= int64(n.conf.Namespace.StopWrites)
}

func (n *Node) usedPercent() int64 { return 100 * n.device.Used() / n.device.Size() }
