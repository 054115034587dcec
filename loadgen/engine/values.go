package engine

import (
	"math/rand/v2"

	"brownout/loadgen/spec"
)

// values cuts the contents of one set's records out of one block of random bytes, so
// that a write costs no memory of its own.
type values struct {
	block []byte
	set   spec.Set
}

// spread is the number of different values; period is how often, of values that can be
// compressed, bytes that cannot are followed by zeros.
const (
	spread = 1 << 16
	period = 256
)

func newValues(seed uint64, set spec.Set) *values {
	random := rand.New(rand.NewPCG(seedFor(seed, "values", set.Name)))
	longest := 0
	for _, size := range set.ValueBytes {
		longest = max(longest, size)
	}
	filled := period
	if set.CompressTo > 0 {
		filled = int(set.CompressTo * period)
	}
	block := make([]byte, spread+longest)
	for i := range block {
		if b := byte(random.Uint32()); i%period < filled {
			block[i] = b
		}
	}
	return &values{block, set}
}

// at returns one of the values of the key's size; read-only, and never nil.
func (v *values) at(key, n uint64) []byte {
	from, size := n%spread, uint64(v.set.Size(key))
	return v.block[from : from+size : from+size]
}

// of returns the value that a key is loaded with.
func (v *values) of(key uint64) []byte { return v.at(key, key*0x9e3779b97f4a7c15>>32) }
