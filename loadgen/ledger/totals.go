package ledger

import (
	"context"
	"sync"

	"brownout/loadgen/driver"
)

// Totals remembers increments of 1 to a few documents, any number of which may be under way
// at a time.
type Totals struct {
	Stream int
	Name   string // of the stream
	Set    string
	Field  string // that counts
	IDs    []string
	Share  driver.Share // of them, that is read back here

	mu     sync.Mutex
	counts map[string]*[3]uint64 // like Fate
	remade map[string]uint64
}

// There tells whether an increment of it was acknowledged.
func (t *Totals) There(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.counts[id]
	return n != nil && n[Acknowledged] > 0
}

// Book notes the fate of an increment that was sent; remade tells that the total was missing and
// had to be made anew.
func (t *Totals) Book(id string, fate Fate, remade bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts == nil {
		t.counts, t.remade = map[string]*[3]uint64{}, map[string]uint64{}
	}
	if remade {
		t.remade[id]++
	}
	if t.counts[id] == nil {
		t.counts[id] = &[3]uint64{}
	}
	t.counts[id][fate]++
}

// Lines returns what was promised of each total.
func (t *Totals) Lines(writer string, each func(*Line) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range t.IDs {
		n := t.counts[id]
		if n == nil {
			n = &[3]uint64{}
		}
		line := &Line{
			Key: t.label(id), Stream: t.Name, Kind: "counter", Writer: writer,
			Acked: n[Acknowledged], AckedN: n[Acknowledged], InDoubt: [][2]uint64{}, Failed: [][2]uint64{},
			InDoubtN: n[InDoubt], FailedN: n[Failed], RemadeN: t.remade[id],
		}
		if err := each(line); err != nil {
			return err
		}
	}
	return nil
}

func (t *Totals) label(id string) string { return t.Name + ":total " + id }

// Find reads one of the totals that are read back here.
func (t *Totals) Find(ctx context.Context, finder driver.Finder, place int) driver.ReadBack {
	id := t.IDs[t.Share.Index+place*t.Share.Parts()]
	back := driver.ReadBack{ID: t.label(id), ChecksumOK: true}
	value, found, err := finder.Count(ctx, driver.DocumentKey{Set: t.Set, ID: id}, t.Field)
	back.Value, back.Missing, back.Err = value, !found, err
	return back
}

// Len is the number of totals that are read back here.
func (t *Totals) Len() int { return t.Share.Count(len(t.IDs)) }

// StreamName is the name of their stream.
func (t *Totals) StreamName() string { return t.Name }
