// Package pace decides when operations start. The plan is pure arithmetic over
// the time since the schedule's start; only Waiter touches a clock.
package pace

import (
	"math"
	"math/rand/v2"
	"time"

	"brownout/loadgen/driver"
)

// Arrivals returns the intended starts of one stream, one after the other, as
// time since the schedule's start.
type Arrivals interface {
	Next() time.Duration
}

var (
	_ Arrivals = (*Constant)(nil)
	_ Arrivals = (*Poisson)(nil)
)

// Constant starts an operation every 1/rate seconds, the first at 0. It counts
// instead of adding up, so that rounding never accumulates.
type Constant struct {
	rate float64
	n    float64
	step float64
}

// NewConstant returns arrivals at rate operations per second.
func NewConstant(rate float64) *Constant { return &Constant{rate: rate, step: 1} }

// NewDealt returns one generator's share of such arrivals: they are dealt out in turn, so
// that all together are as evenly spaced as those of one.
func NewDealt(rate float64, share driver.Share) *Constant {
	return &Constant{rate: rate, n: float64(share.Index), step: float64(share.Parts())}
}

// Next returns the next intended start.
func (c *Constant) Next() time.Duration {
	at := math.Round(c.n * float64(time.Second) / c.rate)
	c.n += c.step
	return sinceStart(at)
}

// Poisson starts operations at random, independently of each other, at a mean
// of rate per second: gaps are exponential.
type Poisson struct {
	gap    float64 // mean, in nanoseconds
	at     float64
	random *rand.Rand
}

// NewPoisson returns arrivals at a mean of rate operations per second.
func NewPoisson(rate float64, random *rand.Rand) *Poisson {
	return &Poisson{gap: float64(time.Second) / rate, random: random}
}

// Next returns the next intended start.
func (p *Poisson) Next() time.Duration {
	p.at += p.gap * p.random.ExpFloat64()
	return sinceStart(p.at)
}

// sinceStart is a time of so many nanoseconds; what does not fit is as late as a time can be, so
// that a rate of next to nothing never wraps round to an arrival that is due.
func sinceStart(ns float64) time.Duration {
	if ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}
