package scriptserver

import (
	"math/rand/v2"
	"time"

	"brownout/loadgen/scriptserver/wire"
)

// plan is what becomes of one operation.
type plan struct {
	delay   time.Duration // until it is done and answered
	apply   bool
	answer  bool
	corrupt bool
	effect  int // index of the effect that decided; -1: none
	status  wire.Status
	cause   string
	code    string
}

// decider decides for one lane. A share hits every 1/share-th operation,
// beginning somewhere in the first of them: the scripted loss is exact to one.
type decider struct {
	script *Script
	lane   int
	credit []float64 // per effect
	seen   []uint64
	hit    []uint64
}

func newDecider(script *Script, lane int) *decider {
	n := len(script.Effects)
	d := &decider{script, lane, make([]float64, n), make([]uint64, n), make([]uint64, n)}
	random := rand.New(rand.NewPCG(script.Seed, uint64(lane)))
	for i := range d.credit {
		d.credit[i] = random.Float64()
	}
	return d
}

// decide tells what becomes of an operation received at t.
func (d *decider) decide(t time.Duration, write bool) plan {
	p := plan{
		apply: true, answer: true, effect: -1,
		delay: time.Duration(d.script.LatencyMS * float64(time.Millisecond)),
	}
	for i := range d.script.Effects {
		e := &d.script.Effects[i]
		if !e.active(t) || !e.on(d.lane) || !e.concerns(write) || !e.decides(write) {
			continue
		}
		if d.spend(i, e.Share) && e.shape(&p, write) {
			p.effect = i
			return p
		}
	}
	return p
}

// decides tells whether the effect works on single operations.
func (e *Effect) decides(write bool) bool {
	switch e.Effect {
	case Error, Latency, Silence:
		return true
	case Lose, Late, Corrupt:
		return write
	}
	return false
}

func (d *decider) spend(i int, share float64) bool {
	d.seen[i]++
	d.credit[i] += share
	if d.credit[i] < 1 {
		return false
	}
	d.credit[i]--
	d.hit[i]++
	return true
}

// shape changes the plan; last tells that no other effect may change it too.
func (e *Effect) shape(p *plan, write bool) (last bool) {
	switch e.Effect {
	case Latency:
		p.delay += time.Duration(e.MS * float64(time.Millisecond))
		return false
	case Error:
		p.status, p.cause, p.code, p.apply = wire.Failed, e.Cause, e.Code, e.Applied
		if e.InDoubt && write {
			p.status = wire.InDoubt
		}
	case Silence:
		p.apply, p.answer = false, false
	case Lose:
		p.apply = false
	case Late:
		p.answer, p.delay = false, inSeconds(e.Delay)
	case Corrupt:
		p.corrupt = true
	}
	return true
}

// frozenUntil is the end of the freeze that the lane is in at t, if it is.
func (s *Script) frozenUntil(lane int, t time.Duration) (end time.Duration, frozen bool) {
	for i := range s.Effects {
		e := &s.Effects[i]
		if e.Effect == Freeze && e.on(lane) && e.active(t) && e.end() > end {
			end, frozen = e.end(), true
		}
	}
	return end, frozen
}

// pace is how many operations a second the lane can do at t; 0 is any number.
// Of several effects the slowest counts.
func (s *Script) pace(lane int, t time.Duration) float64 {
	slowest := s.OpsPerS
	for i := range s.Effects {
		e := &s.Effects[i]
		if e.Effect == Pace && e.on(lane) && e.active(t) && (slowest == 0 || e.OpsPerS < slowest) {
			slowest = e.OpsPerS
		}
	}
	return slowest
}
