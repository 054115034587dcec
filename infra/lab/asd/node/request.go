package node

import (
	"time"

	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

// origin is who asked, as the names of the counters begin.
type origin string

const (
	fromClient origin = "client"
	fromBatch  origin = "batch_sub"
	fromProxy  origin = "from_proxy"
)

// transaction is one request about one record on its way through the server.
type transaction struct {
	*wire.Request
	digest   record.Digest
	origin   origin
	deadline time.Time
}

// begin checks a request and gives it its deadline, which counts from here: also for what lay in
// the socket while the process was stopped.
func (n *Node) begin(r *wire.Request, from origin) (*transaction, wire.Code) {
	switch {
	case r.Namespace != n.conf.Namespace.Name:
		return nil, wire.NoNamespace
	case r.Query || (r.Filter != nil && !r.IsWrite()):
		return nil, wire.Unsupported // scans, queries, and reads with a filter
	case r.Digest == nil:
		return nil, wire.BadParameter
	}
	limit := n.conf.TransactionMax
	if r.TimeoutMs > 0 {
		limit = time.Duration(r.TimeoutMs) * time.Millisecond
	}
	return &transaction{r, record.Digest(r.Digest), from, time.Now().Add(limit)}, wire.OK
}

// answer does a request wherever it has to be done.
func (n *Node) answer(r *wire.Request, from origin) wire.Answer {
	t, code := n.begin(r, from)
	if code != wire.OK {
		return wire.Answer{Code: code}
	}
	started := time.Now()
	answer, proxied := n.attempt(t)
	n.account(t, answer.Code, proxied)
	if !proxied && from == fromClient {
		n.histogram(t).Record(time.Since(started))
	}
	return answer
}

// attempt does a request here if this is the node to do it, else hands it on.
func (n *Node) attempt(t *transaction) (answer wire.Answer, proxied bool) {
	p := n.partitions[t.digest.Partition()]
	for {
		best := n.bestFor(p, t)
		if best == 0 {
			return wire.Answer{Code: wire.Unavailable}, false
		}
		if best != n.self {
			if answer, done := n.handOn(best, p, t); done {
				return answer, true
			}
			continue
		}
		if answer, moved := n.here(p, t); !moved {
			return answer, false
		}
	}
}

func (n *Node) bestFor(p *partition, t *transaction) nodeid.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.best(n.self, !t.IsWrite())
}

// here does a request on this node; moved if it ceased to be the one to do it.
func (n *Node) here(p *partition, t *transaction) (answer wire.Answer, moved bool) {
	if t.IsWrite() {
		return n.write(p, t)
	}
	return n.read(p, t), false
}

// account counts how a request ended, under the name that its origin and kind give it.
func (n *Node) account(t *transaction, code wire.Code, proxied bool) {
	if proxied {
		n.counts.Add(string(t.origin) + "_proxy_" + outcome(code, "complete"))
		return
	}
	kind := "_read_"
	switch {
	case t.Has(wire.Info2Delete):
		kind = "_delete_"
	case t.IsWrite():
		kind = "_write_"
	}
	end := outcome(code, "success")
	if code == wire.NotFound && kind != "_write_" {
		end = "not_found"
	}
	if code == wire.Unavailable {
		kind, end = "_tsvc_", "error"
	}
	n.counts.Add(string(t.origin) + kind + end)
	switch code {
	case wire.KeyBusy:
		n.counts.Add("fail_key_busy")
	case wire.WrongGeneration:
		n.counts.Add("fail_generation")
	case wire.RecordTooBig:
		n.counts.Add("fail_record_too_big")
	}
}

func outcome(code wire.Code, success string) string {
	switch code {
	case wire.OK:
		return success
	case wire.Timeout:
		return "timeout"
	}
	return "error"
}
