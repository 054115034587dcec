package node

import (
	"brownout/infra/lab/asd/meter"
	"brownout/infra/lab/asd/operate"
	"brownout/infra/lab/asd/wire"
)

// read answers from this node's own copy; from the best of all copies if the client wants that.
func (n *Node) read(p *partition, t *transaction) wire.Answer {
	if t.Info1&wire.Info1ReadAll != 0 && !n.resolve(p, t) {
		return wire.Answer{Code: wire.Timeout}
	}
	p.mu.Lock()
	found := p.has(t.digest)
	p.mu.Unlock()
	done := operate.Read(found, t.Request)
	answer := wire.Answer{Code: done.Code, Ops: done.Ops}
	if done.Code == wire.OK {
		answer.Generation = uint32(found.Generation)
	}
	return answer
}

func (n *Node) histogram(t *transaction) *meter.Latency {
	if t.IsWrite() {
		return n.writes
	}
	return n.reads
}
