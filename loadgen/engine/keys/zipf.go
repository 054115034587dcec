package keys

import (
	"math"
	"math/rand/v2"
)

// zipf draws rank k in [0, n) with probability proportional to 1/(k+1)^theta,
// for any theta > 0. It is exact and needs no table: rejection-inversion after
// W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from
// monotone discrete distributions", ACM TOMACS 6(3), 1996.
type zipf struct {
	n, theta          float64
	first, last, skip float64
}

func newZipf(n uint64, theta float64) *zipf {
	z := &zipf{n: float64(n), theta: theta}
	z.first = z.integral(1.5) - 1
	z.last = z.integral(z.n + 0.5)
	z.skip = 2 - z.inverse(z.integral(2.5)-z.density(2))
	return z
}

func (z *zipf) Next(random *rand.Rand) uint64 {
	for {
		u := z.last + random.Float64()*(z.first-z.last)
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.skip || u >= z.integral(k+0.5)-z.density(k) {
			return uint64(k) - 1
		}
	}
}

func (z *zipf) density(x float64) float64 { return math.Exp(-z.theta * math.Log(x)) }

// integral of the density from 1 to x; smooth through theta = 1, where it is log x.
func (z *zipf) integral(x float64) float64 {
	logX := math.Log(x)
	return expm1Over((1-z.theta)*logX) * logX
}

func (z *zipf) inverse(x float64) float64 {
	t := max(x*(1-z.theta), -1) // rounding may carry it past the pole
	return math.Exp(log1pOver(t) * x)
}

// log1pOver is log(1+x)/x, also near 0.
func log1pOver(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Log1p(x) / x
	}
	return 1 - x*(0.5-x/3)
}

// expm1Over is (exp(x)-1)/x, also near 0.
func expm1Over(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Expm1(x) / x
	}
	return 1 + x*0.5*(1+x/3)
}
