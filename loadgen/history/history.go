// Package history records what was done to a few registers, and tells afterwards whether each was
// linearizable: whether its operations can be put in one order, each at one moment between its start
// and its end, in which every read returns the last write before it.
//
// A register has one writer at a time and each of its writes has a number of its own, as in the
// ledger. Writes that failed had no effect and are left out. A write in doubt may take effect at any
// time later, or never.
package history

import (
	"maps"
	"slices"
	"sync"
	"time"

	"brownout/loadgen/ledger"
)

// most bounds the operations of one register that are kept: about 500 kB.
const most = 10_000

// never is the end of an operation that may still take effect.
const never = time.Duration(1<<63 - 1)

// operation is one write, or one read and what it returned.
type operation struct {
	write      bool
	seq        uint64 // 0: nothing was there
	start, end time.Duration
	lane       string
	failed     bool // it had no effect
}

// register is what was done under one stored key, in the order of the writes' starts and the reads' ends.
type register struct {
	initial    uint64 // what it held at first; 0: nothing
	operations []operation
	full       bool // what came later is not kept
	foreign    bool // another writer's record was read
}

// History is what was done to the registers of one stream. All methods are safe for concurrent use.
type History struct {
	writer string

	mu        sync.Mutex
	registers map[string]*register
}

// New returns a history of registers under these stored keys, in which the load phase left its
// first write.
func New(writer string, ids []string) *History {
	h := &History{writer: writer, registers: make(map[string]*register, len(ids))}
	for _, id := range ids {
		h.registers[id] = &register{initial: 1}
	}
	return h
}

// Begin notes a write that is sent now. A stored key that is not known is new: nothing is there.
func (h *History) Begin(id string, seq uint64, at time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.registers[id] == nil {
		h.registers[id] = &register{}
	}
	h.registers[id].add(operation{write: true, seq: seq, start: at, end: never})
}

// End notes what became of a write. One that was refused has read what is there instead.
func (h *History) End(id string, seq uint64, ended *ledger.Ended) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.registers[id]
	for i := len(r.operations) - 1; i >= 0; i-- {
		write := &r.operations[i]
		if !write.write || write.seq != seq {
			continue
		}
		write.lane = ended.Lane
		switch ended.Fate {
		case ledger.Acknowledged:
			write.end = ended.At
		case ledger.Failed:
			write.failed = true
			h.refused(r, write.start, ended)
		}
		return
	}
}

// refused takes what a write found that was refused.
func (h *History) refused(r *register, start time.Duration, ended *ledger.Ended) {
	if ended.Result == nil || !ended.Result.Refused || ended.Result.Look == nil {
		return
	}
	switch look := ended.Result.Look; {
	case look.Foreign:
		r.foreign = true
	case look.Missing:
		r.add(operation{start: start, end: ended.At, lane: ended.Lane})
	case look.ChecksumOK && look.Record != nil:
		r.add(operation{seq: look.Record.Seq, start: start, end: ended.At, lane: ended.Lane})
	}
}

// Read notes what a read returned. One of a register that is another generator's is left out.
func (h *History) Read(read *ledger.Read) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.registers[read.ID]
	switch {
	case r == nil:
	case read.Found == nil:
		r.add(operation{start: read.Start, end: read.End, lane: read.Lane})
	case read.Found.Writer != h.writer:
		r.foreign = true
	default:
		r.add(operation{seq: read.Found.Seq, start: read.Start, end: read.End, lane: read.Lane})
	}
}

// add keeps an operation unless there are too many. No read is kept that may return a write which is not.
func (r *register) add(o operation) {
	if r.full = r.full || len(r.operations) == most; !r.full {
		r.operations = append(r.operations, o)
	}
}

// ids are the stored keys in order.
func (h *History) ids() []string { return slices.Sorted(maps.Keys(h.registers)) }
