package balance

import (
	"cmp"
	"slices"

	"brownout/infra/lab/asd/nodeid"
)

// Succession returns the members in the order in which they are to have partition pid: by the hash
// of both, so that a member that goes or comes moves nothing but its own share. Quiesced members
// come last. The result holds indices of members.
func Succession(pid int, members []nodeid.ID, quiesced []bool) []int {
	order := make([]int, len(members))
	weight := make([]uint64, len(members))
	for i, id := range members {
		order[i], weight[i] = i, mix(uint64(pid)*0x9E3779B97F4A7C15^mix(uint64(id)))
	}
	slices.SortFunc(order, func(a, b int) int {
		if quiesced[a] != quiesced[b] {
			if quiesced[b] {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(members[b], members[a]))
	})
	return order
}

// Spread returns an order in which the first replicas are on racks of their own, as far as there are
// racks: each is the next of the order whose rack has none yet, else the next one. The first stays
// the first, so that masters are spread as before; quiesced members stay last.
func Spread(order, racks []int, quiesced []bool, replicas int) []int {
	var front []int
	rest, used := slices.Clone(order), map[int]bool{}
	for len(front) < replicas && len(rest) > 0 {
		next := max(0, slices.IndexFunc(rest, func(i int) bool { return !quiesced[i] && !used[racks[i]] }))
		front, used[racks[rest[next]]] = append(front, rest[next]), true
		rest = slices.Delete(rest, next, next+1)
	}
	return append(front, rest...)
}

// mix is the finalizer of SplitMix64: every bit of the input changes half of the output's.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	x *= 0x94D049BB133111EB
	return x ^ x>>31
}
