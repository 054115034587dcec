package record

// Policy says which of two versions of a record is the better one.
type Policy int

const (
	// ByGeneration prefers more writes, then the later one: what migrations and duplicate
	// resolution use, the default of the Community Edition.
	ByGeneration Policy = iota
	// ByUpdateTime prefers the later write, then more of them: what replica writes use.
	ByUpdateTime
)

// Better tells whether the version that came in is to replace the one that is there. A record that
// is not there loses; two equal ones leave things as they are.
func (p Policy) Better(there, came *Record) bool {
	if there == nil {
		return true
	}
	generation := compare(uint64(there.Generation), uint64(came.Generation))
	updated := compare(there.Updated, came.Updated)
	first, second := generation, updated
	if p == ByUpdateTime {
		first, second = updated, cyclic(there.Generation, came.Generation)
	}
	if first != 0 {
		return first > 0
	}
	return second > 0
}

// NextGeneration returns the generation after this one; 0 is for a record that is not there.
func NextGeneration(generation uint16) uint16 {
	if generation == 0xFFFF {
		return 1
	}
	return generation + 1
}

func compare(there, came uint64) int {
	switch {
	case came > there:
		return 1
	case came < there:
		return -1
	}
	return 0
}

// cyclic compares generations that may have started again from 1.
func cyclic(there, came uint16) int {
	if there == came {
		return 0
	}
	if came-there < 1<<15 {
		return 1
	}
	return -1
}
