package node

import (
	"slices"
	"time"

	"brownout/infra/lab/asd/fabric"
	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

// resolve asks every node that may have a better version of the record, and takes the best: while
// migrations are under way, before each write. False if they did not all answer in time.
func (n *Node) resolve(p *partition, t *transaction) bool {
	asked := map[nodeid.ID]bool{}
	for {
		duplicates, mine := n.unasked(p, t.digest, asked)
		if len(duplicates) == 0 {
			return true
		}
		for _, id := range duplicates {
			n.counts.Add("dup_res_ask")
			if n.consult(p, id, t, mine) {
				asked[id] = true
			} else if time.Now().After(t.deadline) {
				return false
			}
		}
	}
}

// unasked returns the duplicates that were not asked yet, and what this node has.
func (n *Node) unasked(p *partition, digest record.Digest, asked map[nodeid.ID]bool) ([]nodeid.ID, []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	duplicates := slices.DeleteFunc(slices.Clone(p.duplicates), func(id nodeid.ID) bool { return asked[id] })
	if mine := p.has(digest); mine != nil && len(duplicates) > 0 {
		stub := record.Record{Digest: digest, Generation: mine.Generation, Updated: mine.Updated}
		return duplicates, stub.Append(nil)
	}
	return duplicates, nil
}

// consult asks one node; false if there was no answer.
func (n *Node) consult(p *partition, id nodeid.ID, t *transaction, mine []byte) bool {
	m := fabric.Message{Kind: fabric.Ask, Digest: t.digest, Body: mine}
	answer, err := n.mesh.Ask(id, fabric.Quick, m, time.Until(t.deadline))
	if err != nil {
		time.Sleep(min(resendAfter, max(0, time.Until(t.deadline))))
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, err := record.Parse(answer.Body); err == nil && p.working == n.self {
		n.merge(p, r, record.ByGeneration)
	}
	return true
}

// handleAsk answers with this node's version of a record if it is better than the one in the
// question.
func (n *Node) handleAsk(m fabric.Message) {
	p := n.partitions[m.Digest.Partition()]
	p.mu.Lock()
	mine := p.has(m.Digest)
	p.mu.Unlock()
	theirs, _ := record.Parse(m.Body) // without a body they have none
	var body []byte
	if mine != nil && record.ByGeneration.Better(theirs, mine) {
		body = mine.Append(nil)
		n.counts.Add("dup_res_respond_read")
	} else {
		n.counts.Add("dup_res_respond_no_read")
	}
	n.reply(m, fabric.Quick, m.Reply(byte(wire.OK), body))
}
