package engine

import "math/rand/v2"

// values cuts the contents of records out of one block of random bytes, so
// that a write costs no memory of its own.
type values struct {
	block []byte
	size  int
}

// spread is the number of different values.
const spread = 1 << 16

func newValues(seed uint64, size int) *values {
	random := rand.New(rand.NewPCG(seedFor(seed, "values", "")))
	block := make([]byte, spread+size)
	for i := range block {
		block[i] = byte(random.Uint32())
	}
	return &values{block, size}
}

// at returns one of the values; read-only, and never nil.
func (v *values) at(n uint64) []byte {
	from := n % spread
	return v.block[from : from+uint64(v.size) : from+uint64(v.size)]
}

// of returns the value that a key is loaded with.
func (v *values) of(key uint64) []byte { return v.at(key * 0x9e3779b97f4a7c15 >> 32) }
