package driver

import (
	"fmt"
	"sync/atomic"
)

// Step is what one call of Load does. One generator alone does all of it; of several the first
// one begins, then all fill, each its share, at last the first one ends.
type Step uint8

// The steps of a load.
const (
	LoadWhole Step = iota
	LoadBegin      // claim the namespace, and make room unless the data set is there already
	LoadFill       // write the share
	LoadEnd        // want of the database that all is there, and say so in the marker
)

var steps = map[string]Step{"": LoadWhole, "begin": LoadBegin, "fill": LoadFill, "end": LoadEnd}

// ParseStep reads a step's name; the empty one is all of them.
func ParseStep(name string) (Step, error) {
	step, known := steps[name]
	if !known {
		return 0, fmt.Errorf("`step` is %q (wanted begin, fill or end, or none of them)", name)
	}
	return step, nil
}

// Written counts the items that are written and tells how far a load is.
type Written struct {
	done  atomic.Uint64
	total uint64
	tell  func(done, total uint64)
}

// NewWritten counts items of those that data's share has; of the plain ones those before from
// were there already.
func NewWritten(data Dataset, from uint64, tell func(done, total uint64)) *Written {
	w := &Written{total: data.Mine(), tell: tell}
	first, limit := data.Share.Range(from, data.Keys)
	begin, end := data.Share.Range(0, data.Keys)
	w.done.Store((end - begin) - (limit - first))
	return w
}

// Add takes that n more are written.
func (w *Written) Add(n uint64) { w.tell(w.done.Add(n), w.total) }
