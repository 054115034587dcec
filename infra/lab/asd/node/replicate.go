package node

import (
	"slices"
	"time"

	"brownout/infra/lab/asd/fabric"
	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

const (
	// resendAfter is until what could not be sent at all is tried again; what was sent and not
	// answered waits for transaction-retry-ms, which is longer than clients wait. So a write to a
	// dead replica that is not missed yet times out, and one begun after it was missed goes through
	// as soon as there is a new replica.
	resendAfter = 5 * time.Millisecond

	notReplica byte = 7 // what the real server calls a mismatch of cluster keys
)

// replicate brings a record, or with nil its absence, to every replica; false if it took too long.
func (n *Node) replicate(p *partition, t *transaction, r *record.Record) bool {
	m := fabric.Message{Kind: fabric.Replicate, Digest: t.digest, Key: n.key.Load()}
	if r != nil {
		m.Body = r.Append(nil)
	}
	answers, done := n.mesh.Expect(&m, maxColumns)
	defer done()
	if t.Info3&wire.Info3MasterOnly != 0 {
		n.sendTo(n.targets(p), m)
		return true
	}
	c := copying{acked: map[nodeid.ID]bool{}, retry: n.conf.TransactionRetry}
	expired := time.NewTimer(time.Until(t.deadline))
	defer expired.Stop()
	for tries := 0; ; tries++ {
		missing := c.missing(n.targets(p))
		if len(missing) == 0 {
			return true
		}
		if tries > 0 {
			n.counts.Add("retransmit_all_write_repl_write")
		}
		wait := c.wait(n.sendTo(missing, m))
		if !c.collect(answers, missing, wait, expired.C) {
			return false
		}
	}
}

// targets returns the replicas as they are now: a rebalance changes them in the middle of a write.
func (n *Node) targets(p *partition) []nodeid.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.others(n.self)
}

// sendTo sends a message to each and tells whether all could be reached.
func (n *Node) sendTo(nodes []nodeid.ID, m fabric.Message) bool {
	all := true
	for _, id := range nodes {
		all = n.mesh.Send(id, fabric.Quick, m) == nil && all
	}
	return all
}

// copying is how far a write has got with its replicas.
type copying struct {
	acked map[nodeid.ID]bool
	retry time.Duration
}

func (c *copying) missing(targets []nodeid.ID) []nodeid.ID {
	return slices.DeleteFunc(targets, func(id nodeid.ID) bool { return c.acked[id] })
}

// wait returns how long to wait for answers before sending again.
func (c *copying) wait(sent bool) time.Duration {
	if !sent {
		return resendAfter
	}
	wait := c.retry
	c.retry *= 2
	return wait
}

// collect takes answers until all of missing have acknowledged or it is time to send again; false
// when the request has expired.
func (c *copying) collect(answers <-chan fabric.Message, missing []nodeid.ID, wait time.Duration,
	expired <-chan time.Time,
) bool {
	again := time.NewTimer(wait)
	defer again.Stop()
	for left := len(missing); left > 0; left-- {
		select {
		case answer := <-answers:
			if answer.Code == notReplica {
				time.Sleep(resendAfter) // it does not know yet that it is one
				return true
			}
			c.acked[answer.From] = true
		case <-again.C:
			return true
		case <-expired:
			return false
		}
	}
	return true
}

// handleReplicate stores a record that its master has written. It asks nothing but whether this
// node is a replica: also a master that was left behind by the cluster is believed.
func (n *Node) handleReplicate(m fabric.Message) {
	r, err := record.Parse(m.Body)
	if err != nil && len(m.Body) > 0 {
		n.log.Warn("rw", "bad record from %s: %v", m.From.Lower(), err)
		return
	}
	p := n.partitions[m.Digest.Partition()]
	p.mu.Lock()
	code := byte(wire.OK)
	switch {
	case p.column(n.self) < 0:
		code = notReplica
	case r == nil:
		n.store(p, m.Digest, nil)
	default:
		n.merge(p, r, record.ByUpdateTime)
	}
	p.mu.Unlock()
	n.reply(m, fabric.Quick, m.Reply(code, nil))
}

// reply answers a message; a peer that is not seen at the moment does not get it and asks again.
func (n *Node) reply(to fabric.Message, channel fabric.Channel, answer fabric.Message) {
	_ = n.mesh.Send(to.From, channel, answer)
}
