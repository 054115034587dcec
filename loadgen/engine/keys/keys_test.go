package keys

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/quick"

	"brownout/loadgen/driver"
	"brownout/loadgen/spec"
)

const draws = 400_000

func histogram(c Chooser, n, seed uint64) []int {
	random := rand.New(rand.NewPCG(seed, 1))
	counts := make([]int, n)
	for range draws {
		counts[c.Next(random)]++
	}
	return counts
}

func descending(counts []int) []int {
	sorted := slices.Clone(counts)
	slices.SortFunc(sorted, func(a, b int) int { return b - a })
	return sorted
}

func sum(counts []int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

func TestEveryDistributionStaysInsideItsKeysAndFollowsTheSeed(t *testing.T) {
	for _, name := range []string{spec.Uniform, spec.Zipf, spec.Gaussian, spec.HotSet} {
		for _, n := range []uint64{1, 2, 3, 1000, 1023} {
			wanted := spec.Keys{Distribution: name, Theta: 0.99, Sigma: 0.07, HotShare: 0.9, HotKeys: 0.1}
			a, b := rand.New(rand.NewPCG(5, 5)), rand.New(rand.NewPCG(5, 5))
			one, two := New(wanted, n, 5), New(wanted, n, 5)
			for range 2000 {
				key := one.Next(a)
				if key >= n {
					t.Fatalf("%s over %d keys chose %d", name, n, key)
				}
				if again := two.Next(b); again != key {
					t.Fatalf("%s: the same seed chose %d, then %d", name, key, again)
				}
			}
		}
	}
}

func TestZipfFollowsItsLawBelowAtAndAboveOne(t *testing.T) {
	const n = 500
	for _, theta := range []float64{0.5, 0.99, 1, 1.3, 2} {
		norm := 0.0
		for k := 1; k <= n; k++ {
			norm += math.Pow(float64(k), -theta)
		}
		counts := histogram(newZipf(n, theta), n, 7)
		for _, k := range []int{1, 2, 3, 10, 100} {
			wanted := draws * math.Pow(float64(k), -theta) / norm
			if off := math.Abs(float64(counts[k-1]) - wanted); off > 5*math.Sqrt(wanted)+1 {
				t.Errorf("theta %v, rank %d: %d draws, wanted %.0f", theta, k, counts[k-1], wanted)
			}
		}
	}
}

func TestGaussianPutsTwoThirdsWithinOneSigma(t *testing.T) {
	const n, sigma = 10_000, 0.07
	counts := histogram(gaussian{n: n, sigma: sigma}, n, 3)
	within := sum(counts[n/2-700 : n/2+700])
	if share := float64(within) / draws; math.Abs(share-0.6827) > 0.005 {
		t.Errorf("%.4f of the draws lie within one sigma of the centre, wanted 0.683", share)
	}
}

func TestHotSetSplitsTheOperationsAsAsked(t *testing.T) {
	const n = 1000
	chooser := New(spec.Keys{Distribution: spec.HotSet, HotShare: 0.9, HotKeys: 0.1}, n, 9)
	hot := sum(descending(histogram(chooser, n, 2))[:n/10])
	if share := float64(hot) / draws; math.Abs(share-0.9) > 0.005 {
		t.Errorf("the hot tenth got %.4f of the draws, wanted 0.9", share)
	}
}

func TestScramblingIsAPermutation(t *testing.T) {
	property := func(seed uint64, size uint16) bool {
		n := uint64(size)%3000 + 1
		p, seen := newPermutation(n, seed), make([]bool, n)
		for k := range n {
			at := p.at(k)
			if at >= n || seen[at] {
				return false
			}
			seen[at] = true
		}
		return true
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 60}); err != nil {
		t.Error(err)
	}
}

// Lanes are told apart by a hash of the key, or by ranges of keys.
func TestHotKeysSpreadOverLanes(t *testing.T) {
	const n, lanes = 20_000, 5
	lane := map[string]func(uint64) uint64{
		"ranges": func(key uint64) uint64 { return key * lanes / n },
		"hashes": func(key uint64) uint64 {
			hash := fnv.New32a()
			hash.Write([]byte(driver.DataID(key)))
			return uint64(hash.Sum32()) % lanes
		},
	}
	for name, of := range lane {
		p, counts := newPermutation(n, 4711), make([]int, lanes)
		for rank := range uint64(200) {
			counts[of(p.at(rank))]++
		}
		if slices.Min(counts) < 20 || slices.Max(counts) > 60 {
			t.Errorf("the 200 hottest keys lie on lanes by %s as %v, wanted about 40 each", name, counts)
		}
	}
}

func TestSharesOfTheKeysAreDisjointAndWholeAndAreChosenAsOneWould(t *testing.T) {
	const n, of = 1000, 4
	for _, wanted := range []spec.Keys{
		{Distribution: spec.Uniform},
		{Distribution: spec.Gaussian, Sigma: 0.07},
		{Distribution: spec.HotSet, HotShare: 0.9, HotKeys: 0.1},
	} {
		owner, counts := map[uint64]int{}, make([]int, n)
		for index := range of {
			chooser, mine := Own(wanted, n, 5, driver.Share{Index: index, Of: of})
			for _, key := range mine {
				owner[key] = index
			}
			random := rand.New(rand.NewPCG(uint64(index), 1))
			for range draws / of {
				key := chooser.Next(random)
				if by, known := owner[key]; !known || by != index {
					t.Fatalf("%s: generator %d chose key %d of generator %d", wanted.Distribution, index, key, by)
				}
				counts[key]++
			}
		}
		if len(owner) != n {
			t.Errorf("%s: %d of %d keys have an owner", wanted.Distribution, len(owner), n)
		}
		for key, one := range histogram(New(wanted, n, 5), n, 9) {
			if off := math.Abs(float64(counts[key] - one)); off > 7*math.Sqrt(float64(one+counts[key])+1) {
				t.Errorf("%s: key %d was chosen %d times by four, %d times by one", wanted.Distribution, key, counts[key], one)
			}
		}
	}
}

func TestTheLastRanksAreDrawnAgainWhereNotEverybodyHasOne(t *testing.T) {
	chooser, mine := Own(spec.Keys{Distribution: spec.Uniform}, 7, 1, driver.Share{Index: 2, Of: 3})
	if !slices.Equal(mine, []uint64{2, 5}) {
		t.Errorf("its keys are %v", mine)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		if key := chooser.Next(random); key != 2 && key != 5 {
			t.Fatalf("it chose %d", key)
		}
	}
}
