package history

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	// registerPatience is for how long one register is checked, patience for how long all are.
	registerPatience = 5 * time.Second
	patience         = 60 * time.Second
	// listed is how many registers that were not linearizable are looked into.
	listed = 20
	// drawnOperations is how many of the last operations are drawn, at least, and what they depend on.
	drawnOperations = 60
)

// Checked is what checking the registers of one stream came to.
type Checked struct {
	Registers, Operations uint64
	Broken                uint64   // those that were not linearizable
	Examples              []Broken // some of these
	Unknown               uint64   // those of which it is not known
	Why                   string   // of one of these
	Took                  time.Duration
}

// Broken is a register that was not linearizable.
type Broken struct {
	ID      string
	At      time.Duration // when the first operation ended that fits into no order
	What    string        // that operation
	Lane    string        // where it was done
	drawn   []operation
	initial uint64
}

// Check tells of each register whether it was linearizable. What is not known after a minute stays
// unknown. progress is told how many registers are checked.
func (h *History) Check(ctx context.Context, progress func(done, total uint64)) *Checked {
	h.mu.Lock()
	defer h.mu.Unlock()
	begun := time.Now()
	checked := &Checked{}
	for _, id := range h.ids() {
		r := h.registers[id]
		checked.Registers++
		checked.Operations += uint64(len(r.operations))
		left := min(registerPatience, patience-time.Since(begun))
		result := porcupine.Unknown
		if left > 0 && ctx.Err() == nil {
			result = linearizable(r.initial, reduced(r.operations, never), left)
		}
		switch {
		case result == porcupine.Illegal && !r.foreign:
			if checked.Broken++; len(checked.Examples) < listed {
				checked.Examples = append(checked.Examples, r.broken(id))
			}
		case result == porcupine.Unknown:
			checked.unknown(fmt.Sprintf("not decided within %v", registerPatience))
		case r.foreign:
			checked.unknown("another writer's record was read")
		case r.full:
			checked.unknown(fmt.Sprintf("only its first %d operations were kept", most))
		}
		progress(checked.Registers, uint64(len(h.registers)))
	}
	checked.Took = time.Since(begun)
	return checked
}

func (c *Checked) unknown(why string) {
	c.Unknown++
	c.Why = why
}

// broken looks for the first operation by whose end the register was not linearizable any more.
func (r *register) broken(id string) Broken {
	ends := slices.Clone(r.operations)
	ends = slices.DeleteFunc(ends, func(o operation) bool { return o.failed || o.end == never })
	slices.SortFunc(ends, func(a, b operation) int { return cmp.Compare(a.end, b.end) })
	first := sort.Search(len(ends)-1, func(i int) bool {
		return linearizable(r.initial, reduced(r.operations, ends[i].end), registerPatience) == porcupine.Illegal
	})
	until := ends[first]
	b := Broken{ID: id, At: until.end, What: until.words(), Lane: until.lane, initial: r.initial}
	all := reduced(r.operations, until.end)
	for n := drawnOperations; ; n *= 2 { // the last ones, if they break by themselves
		b.drawn = window(all, n)
		if n >= len(all) || linearizable(r.initial, b.drawn, registerPatience) == porcupine.Illegal {
			return b
		}
	}
}

// reduced are the operations until then, less what cannot decide. In an order in which a write holds
// from its moment to that of the next one, the earliest end and the latest start of the reads that
// returned it say all that the others do. A write in doubt that no read returned may as well not have
// been done; one that was returned had taken effect by then.
func reduced(operations []operation, until time.Duration) []operation {
	type reads struct{ earliest, latest int } // places of the read that ended first, and of that which began last
	returned := map[uint64]reads{}
	for i, o := range operations {
		if o.write || o.end > until {
			continue
		}
		known, there := returned[o.seq]
		if !there || o.end < operations[known.earliest].end {
			known.earliest = i
		}
		if !there || o.start > operations[known.latest].start {
			known.latest = i
		}
		returned[o.seq] = known
	}
	var left []operation
	for i, o := range operations {
		known, there := returned[o.seq]
		switch {
		case !o.write:
			if there && (known.earliest == i || known.latest == i) {
				left = append(left, o)
			}
		case o.failed || o.start > until:
		case o.end <= until:
			left = append(left, o)
		case there:
			o.end = max(o.start, operations[known.earliest].end)
			left = append(left, o)
		}
	}
	return left
}

// window are the last n operations, by their start, and the writes that these returned. If no order
// explains them, none explains all: without a read, or a write that none returned, an order stays one.
func window(operations []operation, n int) []operation {
	all := slices.Clone(operations)
	slices.SortStableFunc(all, func(a, b operation) int { return cmp.Compare(a.start, b.start) })
	from := max(0, len(all)-n)
	returned := map[uint64]bool{}
	for _, o := range all[from:] {
		returned[o.seq] = returned[o.seq] || !o.write
	}
	earlier := slices.DeleteFunc(slices.Clone(all[:from]), func(o operation) bool {
		return !o.write || !returned[o.seq]
	})
	return append(earlier, all[from:]...)
}

func linearizable(initial uint64, operations []operation, within time.Duration) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(model(initial), calls(operations), within)
}

// model is one register whose value is the number of the last write to it.
func model(initial uint64) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			if o := input.(operation); o.write {
				return true, o.seq
			} else {
				return state == o.seq, state
			}
		},
		Hash:                      func(state any) uint64 { return state.(uint64) },
		DescribeOperation:         func(input, _ any) string { return input.(operation).words() },
		DescribeState:             func(state any) string { return named(state.(uint64)) },
		DescribeOperationMetadata: func(info any) string { return info.(string) },
	}
}

// calls are the operations as the checker wants them; each row of a drawing has one after the other.
func calls(operations []operation) []porcupine.Operation {
	calls := make([]porcupine.Operation, len(operations))
	order := make([]int, len(operations))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(operations[a].start, operations[b].start) })
	var rows []time.Duration // until when each is taken
	for _, i := range order {
		o := operations[i]
		row := slices.IndexFunc(rows, func(until time.Duration) bool { return until < o.start })
		if row < 0 {
			row, rows = len(rows), append(rows, 0)
		}
		rows[row] = o.end
		calls[i] = porcupine.Operation{
			ClientId: row, Input: o, Call: int64(o.start), Return: int64(o.end),
			Metadata: fmt.Sprintf("%s, from %.4f to %.4f s", o.lane, o.start.Seconds(), o.end.Seconds()),
		}
	}
	return calls
}

func (o operation) words() string {
	if o.write {
		return fmt.Sprintf("write %d", o.seq)
	}
	return "read " + named(o.seq)
}

func named(seq uint64) string {
	if seq == 0 {
		return "nothing"
	}
	return fmt.Sprint(seq)
}

// FileName is what the drawing of a register is called: stored keys have letters, digits, `-`, `:` and
// `.` alone.
func FileName(id string) string { return "history-" + strings.ReplaceAll(id, ":", "-") + ".html" }

// Draw writes a page that shows the operations which fit into no order.
func (b *Broken) Draw(to io.Writer) error {
	m := model(b.initial)
	_, info := porcupine.CheckOperationsVerbose(m, calls(b.drawn), registerPatience)
	return porcupine.Visualize(m, info, to)
}
