package ledger

import (
	"context"
	"sync"

	"brownout/loadgen/driver"
)

// Roll remembers the fates of inserts: documents that never were, told apart by the group
// that they belong to and their number in it. It costs two bits a document.
type Roll struct {
	Stream int
	Name   string // of the stream
	// Key says where a document lies.
	Key func(group uint64, number int) driver.DocumentKey
	// Label is what a group is called in the files.
	Label func(group uint64) string

	mu     sync.Mutex
	groups map[uint64]*group
	order  []uint64
}

// group holds the fates of some documents: 0 is not sent, else 1 more than the Fate.
type group struct{ fates []byte }

// Book notes the fate of a document that was sent.
func (r *Roll) Book(of uint64, number int, fate Fate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.groups == nil {
		r.groups = map[uint64]*group{}
	}
	g := r.groups[of]
	if g == nil {
		g = &group{}
		r.groups[of] = g
		r.order = append(r.order, of)
	}
	for number/4 >= len(g.fates) {
		g.fates = append(g.fates, 0)
	}
	g.fates[number/4] |= (byte(fate) + 1) << (2 * (number % 4))
}

// Acked tells whether a document was acknowledged.
func (r *Roll) Acked(of uint64, number int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.groups[of]
	return g != nil && number/4 < len(g.fates) && g.fates[number/4]>>(2*(number%4))&3 == byte(Acknowledged)+1
}

// Len is the number of groups of which anything was sent.
func (r *Roll) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.order)
}

// with lists the numbers of the documents of a group that had a fate.
func (g *group) with(fate Fate) (numbers []int) {
	for i, four := range g.fates {
		for at := range 4 {
			if four>>(2*at)&3 == byte(fate)+1 {
				numbers = append(numbers, 4*i+at)
			}
		}
	}
	return numbers
}

// Lines returns what was promised of each group, as a counter's line: how many documents
// were acknowledged, failed and are in doubt. It is called when nothing is under way.
func (r *Roll) Lines(writer string, each func(*Line) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range r.order {
		g := r.groups[id]
		acked := uint64(len(g.with(Acknowledged)))
		line := &Line{
			Key: r.Label(id), Stream: r.Name, Kind: "counter", Writer: writer, Acked: acked, AckedN: acked,
			InDoubt: [][2]uint64{}, Failed: [][2]uint64{},
			InDoubtN: uint64(len(g.with(InDoubt))), FailedN: uint64(len(g.with(Failed))),
		}
		if err := each(line); err != nil {
			return err
		}
	}
	return nil
}

// Find looks for the documents of the group at a place in the order of Lines. The value is
// how many of the acknowledged ones are there and, only if none of them is missing, the
// others that are: so one that is gone is not made up for by one in doubt.
func (r *Roll) Find(ctx context.Context, finder driver.Finder, place int) driver.ReadBack {
	r.mu.Lock()
	id := r.order[place]
	g := r.groups[id]
	r.mu.Unlock()
	back := driver.ReadBack{ID: r.Label(id), ChecksumOK: true}
	acked := g.with(Acknowledged)
	others := append(g.with(InDoubt), g.with(Failed)...)
	keys := make([]driver.DocumentKey, 0, len(acked)+len(others))
	for _, number := range append(acked, others...) {
		keys = append(keys, r.Key(id, number))
	}
	have, err := finder.Have(ctx, keys)
	if err != nil {
		back.Err = err
		return back
	}
	back.Value = count(have[:len(acked)])
	if back.Value == int64(len(acked)) {
		back.Value += count(have[len(acked):])
	}
	return back
}

func count(all []bool) (n int64) {
	for _, is := range all {
		if is {
			n++
		}
	}
	return n
}

// StreamName is the name of the stream.
func (r *Roll) StreamName() string { return r.Name }
