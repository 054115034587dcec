// Package keys chooses which key an operation goes to. Every distribution is a
// pure function of a random source, so a seed decides the whole sequence.
//
// Skewed distributions are scrambled: neighbouring ranks lie far apart, so the
// hot keys spread over all nodes instead of sharing one.
package keys

import (
	"math/rand/v2"

	"brownout/loadgen/spec"
)

// Chooser returns the next key, in [0, n).
type Chooser interface {
	Next(random *rand.Rand) uint64
}

var (
	_ Chooser = uniform{}
	_ Chooser = (*zipf)(nil)
	_ Chooser = gaussian{}
	_ Chooser = hotSet{}
	_ Chooser = scrambled{}
)

// New returns the chooser that a stream asked for, over n > 0 keys. The seed
// decides which keys are the hot ones.
func New(wanted spec.Keys, n, seed uint64) Chooser {
	scramble := newPermutation(n, seed)
	switch wanted.Distribution {
	case spec.Zipf:
		return scrambled{newZipf(n, wanted.Theta), scramble}
	case spec.Gaussian:
		return scrambled{gaussian{n: float64(n), sigma: wanted.Sigma}, scramble}
	case spec.HotSet:
		return scrambled{newHotSet(n, wanted.HotShare, wanted.HotKeys), scramble}
	}
	return uniform{n}
}

type uniform struct{ n uint64 }

func (u uniform) Next(random *rand.Rand) uint64 { return random.Uint64N(u.n) }

// gaussian is a normal distribution over the ranks: its mean is the centre, its
// standard deviation a share of the range, and what falls outside is drawn again.
type gaussian struct{ n, sigma float64 }

func (g gaussian) Next(random *rand.Rand) uint64 {
	for {
		at := (0.5 + g.sigma*random.NormFloat64()) * g.n
		if at >= 0 && at < g.n {
			return uint64(at)
		}
	}
}

// hotSet sends a share of the operations to the first keys, the rest to the others.
type hotSet struct {
	hot, cold uint64
	share     float64
}

func newHotSet(n uint64, share, keys float64) hotSet {
	hot := min(max(uint64(keys*float64(n)+0.5), 1), n)
	return hotSet{hot: hot, cold: n - hot, share: share}
}

func (h hotSet) Next(random *rand.Rand) uint64 {
	if h.cold == 0 || random.Float64() < h.share {
		return random.Uint64N(h.hot)
	}
	return h.hot + random.Uint64N(h.cold)
}

type scrambled struct {
	ranks    Chooser
	scramble permutation
}

func (s scrambled) Next(random *rand.Rand) uint64 { return s.scramble.at(s.ranks.Next(random)) }
