package pace

import "time"

// LateAfter bounds how late the scheduler may reach an arrival and still send it.
const LateAfter = 100 * time.Millisecond

// Schedule walks through one stream's arrivals as time passes. It never skips
// one and never waits for an answer; an arrival reached more than the tolerance
// late is missed, so there is no burst to catch up.
type Schedule struct {
	arrivals  Arrivals
	next      time.Duration
	tolerance time.Duration
}

// NewSchedule returns the schedule of a stream with the given deadline.
func NewSchedule(arrivals Arrivals, deadline time.Duration) *Schedule {
	return &Schedule{arrivals: arrivals, next: arrivals.Next(), tolerance: min(deadline, LateAfter)}
}

// Next is the intended start of the next arrival.
func (s *Schedule) Next() time.Duration { return s.next }

// Due takes the next arrival if it is due at now. The lag is how late it is.
func (s *Schedule) Due(now time.Duration) (intended time.Duration, missed, ok bool) {
	if s.next > now {
		return 0, false, false
	}
	intended = s.next
	s.next = s.arrivals.Next()
	return intended, now-intended > s.tolerance, true
}
