package keys

import (
	"math/bits"
	"math/rand/v2"
)

// permutation maps [0, n) onto itself without collisions: a four-round Feistel
// network over the next even number of bits, walked until it lands inside.
type permutation struct {
	n      uint64
	half   uint
	mask   uint64
	rounds [4]uint64
}

func newPermutation(n, seed uint64) permutation {
	half := uint(max(bits.Len64(n-1)+1, 2)) / 2
	p := permutation{n: n, half: half, mask: 1<<half - 1}
	random := rand.New(rand.NewPCG(seed, n))
	for i := range p.rounds {
		p.rounds[i] = random.Uint64()
	}
	return p
}

func (p permutation) at(k uint64) uint64 {
	// At most about four turns on average: the network covers less than 4n.
	for {
		left, right := k>>p.half, k&p.mask
		for _, key := range p.rounds {
			left, right = right, left^(mix(right^key)&p.mask)
		}
		if k = left<<p.half | right; k < p.n {
			return k
		}
	}
}

// mix is the finisher of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
