package node

import (
	"time"

	"brownout/infra/lab/asd/fabric"
	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/wire"
)

// What the other node says to a request that was handed on to it.
const (
	proxyDone  byte = 0
	proxyOther byte = 1 // it is not for me; Node knows more
)

// handOn has another node do a request: a client's map of the partitions is up to a second old. Not
// done means that the map here has to be looked at again.
func (n *Node) handOn(to nodeid.ID, p *partition, t *transaction) (answer wire.Answer, done bool) {
	left := time.Until(t.deadline)
	if left <= 0 {
		return wire.Answer{Code: wire.Timeout}, true
	}
	m := fabric.Message{Kind: fabric.Proxy, Digest: t.digest, Body: t.Request.Append(nil)}
	reply, err := n.mesh.Ask(to, fabric.Quick, m, left)
	switch {
	case err == nil && reply.Code == proxyDone:
		answer, err := wire.ParseAnswer(reply.Body)
		if err != nil {
			answer = wire.Answer{Code: wire.ServerError}
		}
		return answer, true
	case err == nil:
		n.redirect(p, reply.Node)
	}
	time.Sleep(resendAfter)
	return answer, false
}

// redirect believes a node that says who is the working master, if it says the final one: this
// node hears of the end of a migration only so.
func (n *Node) redirect(p *partition, to nodeid.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isFinalMaster(to) && to != n.self {
		p.proxy = to
	}
}

// handleProxy does a request for another node, or says who is to.
func (n *Node) handleProxy(m fabric.Message) {
	r, err := wire.ParseRequest(m.Body)
	if err != nil {
		return
	}
	t, code := n.begin(r, fromProxy)
	if code != wire.OK {
		n.reply(m, fabric.Quick, m.Reply(proxyDone, wire.Answer{Code: code}.Append(nil)))
		return
	}
	p := n.partitions[t.digest.Partition()]
	best := n.bestFor(p, t)
	if best == n.self {
		if answer, moved := n.here(p, t); !moved {
			n.account(t, answer.Code, false)
			n.reply(m, fabric.Quick, m.Reply(proxyDone, answer.Append(nil)))
			return
		}
		best = n.bestFor(p, t)
	}
	other := m.Reply(proxyOther, nil)
	other.Node = best
	n.reply(m, fabric.Quick, other)
}
