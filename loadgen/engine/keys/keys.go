// Package keys chooses which key an operation goes to. Every distribution is a
// pure function of a random source, so a seed decides the whole sequence.
//
// Skewed distributions are scrambled: neighbouring ranks lie far apart, so the
// hot keys spread over all nodes instead of sharing one.
package keys

import (
	"math/rand/v2"

	"brownout/loadgen/driver"
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
	_ Chooser = dealt{}
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
		return scrambled{newHotSet(n, wanted.HotShare, wanted.Hot(n)), scramble}
	}
	return uniform{n}
}

// Own deals n keys out to several generators by their rank, each in turn, so that every share
// has as many hot ones as the others. It returns a chooser of this one's keys, and lists them.
// All generators together choose with the wanted distribution; where it is not flat, as of a
// gaussian, neighbouring ranks become equal, so many at a time as there are generators.
func Own(wanted spec.Keys, n, seed uint64, share driver.Share) (Chooser, []uint64) {
	all := New(wanted, n, seed)
	at := func(rank uint64) uint64 { return rank }
	chosen, mixed := all.(scrambled)
	dealt := dealt{ranks: all, n: n, share: share}
	if mixed {
		at, dealt.ranks = chosen.scramble.at, chosen.ranks
	}
	var mine []uint64
	for rank := uint64(share.Index); rank < n; rank += uint64(share.Parts()) {
		mine = append(mine, at(rank))
	}
	if mixed {
		return scrambled{dealt, chosen.scramble}, mine
	}
	return dealt, mine
}

// dealt moves each rank to the generator's own one among its neighbours. The last few ranks
// may be too few for everybody: then it draws again.
type dealt struct {
	ranks Chooser
	n     uint64
	share driver.Share
}

func (d dealt) Next(random *rand.Rand) uint64 {
	for {
		rank := d.ranks.Next(random)
		if own := rank - rank%uint64(d.share.Parts()) + uint64(d.share.Index); own < d.n {
			return own
		}
	}
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

func newHotSet(n uint64, share float64, hot uint64) hotSet {
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
