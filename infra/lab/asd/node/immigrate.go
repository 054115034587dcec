package node

import (
	"encoding/binary"
	"slices"

	"brownout/infra/lab/asd/fabric"
	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/record"
)

// current tells whether a message is about the cluster that this node is in, and may change it.
func (n *Node) current(m fabric.Message) bool {
	return n.migrating.Load() && m.Key == n.key.Load()
}

// expects tells whether a migration from that node is due. The partition is locked.
func (p *partition) expects(from, self nodeid.ID) bool {
	switch {
	case p.pendingIn == 0:
		return false
	case p.isFinalMaster(self):
		return from == p.working || slices.Contains(p.duplicates, from)
	}
	return from == p.replicas[0]
}

// handleBegin answers whether a partition may come.
func (n *Node) handleBegin(m fabric.Message) byte {
	p := n.partitions[m.Partition]
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !n.current(m):
		return moveAgain
	case slices.Contains(p.arrived, m.From):
		return moveDone
	case !p.expects(m.From, n.self):
		return moveFail
	}
	if _, under := p.coming[m.From]; !under {
		if n.incoming.Load() >= n.maxIncoming.Load() {
			return moveAgain
		}
		n.incoming.Add(1)
	}
	p.coming[m.From] = 0
	if !p.isFinalMaster(n.self) {
		v := p.version
		v.Key, v.Family, v.Master, v.Subset = p.final.Key, 0, false, true
		n.setVersion(p, v)
	}
	return moveOK
}

// handleEmpty takes a partition without records: a Begin, and an End that counts none.
func (n *Node) handleEmpty(m fabric.Message) byte {
	code := n.handleBegin(m)
	if code == moveOK {
		m.Body = make([]byte, 4)
		code = n.handleEnd(m)
	}
	return code
}

// handleCarry stores a record that migrates.
func (n *Node) handleCarry(m fabric.Message) {
	r, err := record.Parse(m.Body)
	if err != nil {
		n.log.Warn("migrate", "bad record from %s: %v", m.From.Lower(), err)
		return
	}
	p := n.partitions[m.Partition]
	p.mu.Lock()
	_, under := p.coming[m.From]
	merged := false
	if under = under && n.current(m); under {
		p.coming[m.From]++
		merged = n.merge(p, r, record.ByGeneration)
	}
	p.mu.Unlock()
	n.moves.change(func(m *moves) {
		m.received++
		if !merged {
			m.skipped++
		}
	})
}

// handleEnd notes that a sender has sent all; if not all has come, it is to be sent again.
func (n *Node) handleEnd(m fabric.Message) byte {
	p := n.partitions[m.Partition]
	p.mu.Lock()
	defer p.mu.Unlock()
	if !n.current(m) {
		return moveFail
	}
	came, under := p.coming[m.From]
	if !under || !p.expects(m.From, n.self) {
		return moveFail
	}
	if len(m.Body) != 4 || came != int(binary.BigEndian.Uint32(m.Body)) {
		return moveAgain
	}
	delete(p.coming, m.From)
	p.arrived = append(p.arrived, m.From)
	n.incoming.Add(-1)
	p.pendingIn--
	n.moves.change(func(m *moves) { m.in-- })
	tasks := n.immigrated(p, m.From)
	n.refresh(p)
	n.tasks.add(tasks...)
	return moveOK
}

// immigrated takes what one sender had into account, and returns the migrations that follow from
// it. The partition is locked.
func (n *Node) immigrated(p *partition, from nodeid.ID) []task {
	if p.pendingIn == 0 {
		n.setVersion(p, p.final)
	}
	if !p.isFinalMaster(n.self) {
		return nil
	}
	if from == p.working {
		p.working = n.self
		n.setVersion(p, p.final)
	} else {
		p.duplicates = slices.DeleteFunc(slices.Clone(p.duplicates), func(id nodeid.ID) bool { return id == from })
	}
	switch {
	case p.pendingIn > 0:
		return nil
	case p.pendingOut == 0:
		return n.signals(p)
	}
	var tasks []task
	for i := 1; i < len(p.replicas); i++ {
		if p.immigrates[i] {
			tasks = append(tasks, task{pid: p.id, to: p.replicas[i], key: p.final.Key})
		}
	}
	return tasks
}

// handleAllDone drops what is left over of a partition that is whole elsewhere.
func (n *Node) handleAllDone(m fabric.Message) byte {
	p := n.partitions[m.Partition]
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !n.current(m):
		return moveFail
	case p.pendingOut > 0:
		return moveAgain
	case p.column(n.self) < 0 && p.version.HasData():
		n.giveUp(p)
		n.setVersion(p, p.version)
	}
	return moveOK
}

// receive hands a message from another node to where it belongs.
func (n *Node) receive(m fabric.Message) {
	switch m.Kind {
	case fabric.Prepare:
		n.handlePrepare(m)
	case fabric.Commit:
		n.handleCommit(m)
	case fabric.Replicate:
		n.handleReplicate(m)
	case fabric.Ask:
		n.handleAsk(m)
	case fabric.Proxy:
		go n.handleProxy(m)
	case fabric.Begin:
		n.reply(m, fabric.Bulk, m.Reply(n.handleBegin(m), nil))
	case fabric.Empty:
		n.reply(m, fabric.Bulk, m.Reply(n.handleEmpty(m), nil))
	case fabric.Carry:
		n.handleCarry(m)
	case fabric.End:
		n.reply(m, fabric.Bulk, m.Reply(n.handleEnd(m), nil))
	case fabric.AllDone:
		n.reply(m, fabric.Bulk, m.Reply(n.handleAllDone(m), nil))
	case fabric.Truncate:
		n.truncateUpTo(string(m.Body), m.ID)
	}
}
