package node

import (
	"context"
	"encoding/binary"
	"time"

	"brownout/infra/lab/asd/fabric"
	"brownout/infra/lab/asd/record"
)

// What a node says to a migration.
const (
	moveOK    byte = 0
	moveAgain byte = 1 // not now: too many at once, or this node is not as far yet
	moveFail  byte = 2 // nothing is expected from there
	moveDone  byte = 3 // all of it is here already
)

const (
	moveTimeout = 2 * time.Second
	moveRetry   = 10 * time.Millisecond
)

// emigrate works migrations off, one at a time, until ctx ends.
func (n *Node) emigrate(ctx context.Context) {
	pace := &pacer{}
	for ctx.Err() == nil {
		next, ok := n.tasks.take()
		if !ok {
			select {
			case <-ctx.Done():
			case <-n.tasks.more:
			}
			continue
		}
		if next.key != n.key.Load() {
			continue
		}
		if !n.migrating.Load() || !n.move(next, pace) {
			n.tasks.add(next)
			time.Sleep(moveRetry)
		}
	}
}

// move makes one migration; false if it is to be made again.
func (n *Node) move(t task, pace *pacer) bool {
	if t.signal {
		return n.signal(t)
	}
	n.moves.change(func(m *moves) { m.outActive++ })
	defer n.moves.change(func(m *moves) { m.outActive-- })
	m := fabric.Message{Kind: fabric.Begin, Partition: uint16(t.pid), Key: t.key}
	empty := len(n.partitions[t.pid].digests()) == 0
	if empty { // what is written from now on reaches the receiver as a replica
		pace.add(n.options.PartitionPace)
		m.Kind = fabric.Empty
	}
	code, again := n.askMove(t, m)
	if again || code == moveFail {
		return !again
	}
	if code == moveOK {
		n.moves.change(func(m *moves) { m.instances++ })
	}
	if empty || code == moveDone {
		n.emigrated(t)
		return true
	}
	sent, ok := n.carry(t, pace)
	if !ok {
		return false
	}
	m.Kind, m.Body = fabric.End, binary.BigEndian.AppendUint32(nil, uint32(sent))
	code, again = n.askMove(t, m)
	if code == moveOK && !again {
		n.emigrated(t)
	}
	return !again
}

// askMove asks the receiver and tells whether to try again later. A cluster that has changed ends
// the matter.
func (n *Node) askMove(t task, m fabric.Message) (code byte, again bool) {
	answer, err := n.mesh.Ask(t.to, fabric.Bulk, m, moveTimeout)
	if err != nil || answer.Code == moveAgain {
		return 0, true
	}
	if answer.Code == moveFail {
		n.log.Warn("migrate", "{%s:%d} %s refused the migration", n.conf.Namespace.Name, t.pid, t.to.Lower())
	}
	return answer.Code, false
}

// carry sends every record of the partition, at the pace of the options.
func (n *Node) carry(t task, pace *pacer) (sent int, ok bool) {
	p := n.partitions[t.pid]
	pace.add(n.options.PartitionPace)
	for _, digest := range p.digests() {
		p.mu.Lock()
		r := p.has(digest)
		p.mu.Unlock()
		if r == nil {
			continue
		}
		if !n.migrating.Load() || n.key.Load() != t.key {
			return sent, false
		}
		m := fabric.Message{Kind: fabric.Carry, Partition: uint16(t.pid), Key: t.key, Body: r.Append(nil)}
		if n.mesh.Send(t.to, fabric.Bulk, m) != nil {
			return sent, false
		}
		sent++
		n.moves.change(func(m *moves) { m.sent++ })
		pace.add(n.options.RecordPace + time.Duration(n.sleep.Load())*time.Microsecond)
	}
	return sent, true
}

func (p *partition) digests() []record.Digest {
	p.mu.Lock()
	defer p.mu.Unlock()
	digests := make([]record.Digest, 0, len(p.records))
	for digest := range p.records {
		digests = append(digests, digest)
	}
	return digests
}

// emigrated notes that a receiver has everything. Who was working master hands that over now.
func (n *Node) emigrated(t task) {
	p := n.partitions[t.pid]
	p.mu.Lock()
	if !n.migrating.Load() || n.key.Load() != t.key || p.pendingOut == 0 {
		p.mu.Unlock()
		return
	}
	p.pendingOut--
	n.moves.change(func(m *moves) {
		m.out--
		if t.lead {
			m.outLead--
		}
	})
	if !p.isFinalMaster(n.self) {
		n.handOver(p, t.acting)
	}
	if i := p.column(t.to); i >= 0 {
		p.immigrates[i] = false
	}
	n.refresh(p)
	signals := n.signals(p)
	p.mu.Unlock()
	n.tasks.add(signals...)
}

// handOver makes this node's copy a part of what the final master has now. The partition is locked.
func (n *Node) handOver(p *partition, acting bool) {
	v := p.version
	if acting {
		p.working, p.proxy, p.duplicates, v.Master = 0, p.replicas[0], nil, false
	}
	v.Key, v.Family = p.final.Key, 0
	if p.pendingIn > 0 || p.column(n.self) < 0 {
		v.Subset = true
	}
	n.setVersion(p, v)
}

// signals returns the news to everyone concerned once the final master has nothing left to do. The
// partition is locked.
func (n *Node) signals(p *partition) []task {
	if !p.isFinalMaster(n.self) || p.pendingIn > 0 || p.pendingOut > 0 {
		return nil
	}
	var tasks []task
	for _, to := range p.witnesses {
		tasks = append(tasks, task{pid: p.id, to: to, key: p.final.Key, signal: true})
	}
	return tasks
}

func (n *Node) signal(t task) bool {
	m := fabric.Message{Kind: fabric.AllDone, Partition: uint16(t.pid), Key: t.key}
	code, again := n.askMove(t, m)
	if !again && code == moveOK {
		n.moves.change(func(m *moves) { m.signals-- })
	}
	return !again
}
