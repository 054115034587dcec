package scriptserver

import "time"

// TickS is how finely the truth tells of time, in seconds.
const TickS = 0.02

// mostTicks bounds a timeline: ten minutes. A longer script has the rest untold.
const mostTicks = 30_000

// timeline counts what one lane did, tick by tick since the start of the
// schedule. It is the server's own account: no client had a hand in it.
type timeline struct {
	Received []uint32 `json:"received"`
	Served   []uint32 `json:"served"` // answered, and not with an error
}

func (l *timeline) receive(t time.Duration) { count(&l.Received, t) }
func (l *timeline) serve(t time.Duration)   { count(&l.Served, t) }

func count(ticks *[]uint32, t time.Duration) {
	at := int(t.Seconds() / TickS)
	if t < 0 || at >= mostTicks {
		return
	}
	for len(*ticks) <= at {
		*ticks = append(*ticks, 0)
	}
	(*ticks)[at]++
}

// copied is safe to be read while the lane runs.
func (l *timeline) copied() timeline {
	return timeline{append([]uint32{}, l.Received...), append([]uint32{}, l.Served...)}
}
