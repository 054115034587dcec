package ledger

import (
	"math"
	"slices"
)

// MaxRanges bounds how many separate ranges of sequences one key keeps of a kind.
const MaxRanges = 64

// ranges is a sorted list of inclusive, disjoint ranges of sequence numbers.
type ranges [][2]uint64

// add appends a sequence, which is never smaller than those before it. When the
// list is full the two ranges with the smallest gap between them become one
// that covers the gap too; coarse tells that this happened.
func (r ranges) add(seq uint64) (grown ranges, coarse bool) {
	if n := len(r); n > 0 && seq <= r[n-1][1]+1 {
		r[n-1][1] = max(r[n-1][1], seq)
		return r, false
	}
	r = append(r, [2]uint64{seq, seq})
	if len(r) <= MaxRanges {
		return r, false
	}
	at, gap := 0, uint64(math.MaxUint64)
	for i := range len(r) - 1 {
		if g := r[i+1][0] - r[i][1]; g < gap {
			at, gap = i, g
		}
	}
	r[at][1] = r[at+1][1]
	return slices.Delete(r, at+1, at+2), true
}

// between counts the sequences of the list from first to last, both included.
func (r ranges) between(first, last uint64) (n uint64) {
	for _, span := range r {
		if low, high := max(span[0], first), min(span[1], last); low <= high {
			n += high - low + 1
		}
	}
	return n
}
