package driver

// Share is one of so many generators that drive one load together: the one with this index,
// from 0. Its zero value is one generator alone. Everything that is shared out follows from
// these two numbers, so the generators need not talk.
type Share struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

// Parts is how many generators there are.
func (s Share) Parts() int { return max(s.Of, 1) }

// Alone tells that there is no other generator.
func (s Share) Alone() bool { return s.Parts() == 1 }

// First is the one that does what only one may do.
func (s Share) First() bool { return s.Index == 0 }

// Has tells whether thing number n, from 0, is this generator's: they are dealt out in turn.
func (s Share) Has(n uint64) bool { return n%uint64(s.Parts()) == uint64(s.Index) }

// Count is how many of n things this generator gets; the first ones get what is left over.
func (s Share) Count(n int) int {
	count := n / s.Parts()
	if s.Index < n%s.Parts() {
		count++
	}
	return count
}

// Range is this generator's part of [first, limit): a run of it, next to that of its neighbours.
func (s Share) Range(first, limit uint64) (from, to uint64) {
	length, parts := limit-first, uint64(s.Parts())
	part, left := length/parts, length%parts
	at := func(index uint64) uint64 { return first + index*part + min(index, left) }
	return at(uint64(s.Index)), at(uint64(s.Index) + 1)
}

// Seed is the generator's own seed: that of the load for the first one, so that one alone does
// what it always did, and for each other one an output of SplitMix64 (G. L. Steele, D. Lea and
// C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
func (s Share) Seed(seed uint64) uint64 {
	if s.First() {
		return seed
	}
	x := seed + uint64(s.Index)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
