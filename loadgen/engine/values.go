package engine

import (
	"math/rand/v2"

	"brownout/loadgen/spec"
)

// values cuts the contents of one set's records out of one block of random bytes, so
// that a write costs no memory of its own.
type values struct {
	block  []byte
	spread uint64 // number of different values
	set    spec.Set
}

// Values that can be compressed are drawn from a larger block, or a compressor would find the
// same bytes again in the records beside them; period is how often, in these, bytes that
// cannot be compressed are followed by zeros.
const (
	spread     = 1 << 16
	wideSpread = 1 << 22
	period     = 256
)

func newValues(seed uint64, set spec.Set) *values {
	random := rand.New(rand.NewPCG(seedFor(seed, "values", set.Name)))
	longest := 0
	for _, size := range set.ValueBytes {
		longest = max(longest, size)
	}
	filled, different := period, spread
	if set.CompressTo > 0 && set.CompressTo < 1 {
		filled, different = int(set.CompressTo*period), wideSpread
	}
	block := make([]byte, different+longest)
	for i := range block {
		if b := byte(random.Uint32()); i%period < filled {
			block[i] = b
		}
	}
	return &values{block, uint64(different), set}
}

// at returns one of the values of the key's size; read-only, and never nil.
func (v *values) at(key, n uint64) []byte {
	from, size := n%v.spread, uint64(v.set.Size(key))
	return v.block[from : from+size : from+size]
}

// of returns the value that a key is loaded with.
func (v *values) of(key uint64) []byte { return v.at(key, key*0x9e3779b97f4a7c15>>32) }
