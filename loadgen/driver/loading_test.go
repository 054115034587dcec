package driver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

// memory is a store without a database. What fails is done to its end first, as by a kill.
type memory struct {
	mu     sync.Mutex
	marker *Marker
	items  []uint64
	fail   string
}

var errKilled = errors.New("killed")

func (s *memory) done(what string) error {
	if s.fail == what {
		return errKilled
	}
	return nil
}

func (s *memory) String() string                         { return "the store" }
func (s *memory) Holds(context.Context) (string, error)  { return "", nil }
func (s *memory) EmptyLedger(context.Context) error      { return nil }
func (s *memory) BatchOf(Dataset) uint64                 { return 10 }
func (s *memory) Remove(context.Context, []string) error { return nil }

func (s *memory) ReadMarker(context.Context) (*Marker, error) {
	if s.marker == nil {
		return nil, nil
	}
	m := *s.marker
	if m.Filling != nil {
		filling := *m.Filling
		m.Filling = &filling
	}
	return &m, nil
}

func (s *memory) WriteMarker(ctx context.Context, m *Marker) error {
	s.marker = m
	s.marker, _ = s.ReadMarker(ctx)
	return nil
}

func (s *memory) Count(_ context.Context, data Dataset) (items, others uint64, err error) {
	slices.Sort(s.items)
	for _, item := range slices.Compact(s.items) {
		if item < data.Keys {
			items++
		}
	}
	return items, 0, nil
}

func (s *memory) EmptyData(context.Context) error {
	s.items = nil
	return s.done("empty")
}

func (s *memory) Write(_ context.Context, _ Dataset, first, limit uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; first < limit; first++ {
		s.items = append(s.items, first)
	}
	return s.done("write")
}

func untold(uint64, uint64) {}

func TestAKillBetweenMakingRoomAndSayingSoLeavesNoMarkerOfWhatIsGone(t *testing.T) {
	mine, other := Dataset{Keys: 100}, Dataset{Keys: 50}
	s := &memory{items: []uint64{0, 1, 2}, fail: "empty"}
	s.marker = &Marker{MadeBy: "brownout", Schema: 1, Filling: &Filling{Shape: shapeOf(mine), Done: 3}}
	if err := Load(t.Context(), s, other, untold); !errors.Is(err, errKilled) {
		t.Fatalf("got %v", err)
	}
	s.fail = ""
	if err := Load(t.Context(), s, mine, untold); err != nil {
		t.Errorf("the next load: %v", err)
	}
}

func TestTheFirstFailureOfAWorkerEndsTheLoad(t *testing.T) {
	s := &memory{fail: "write"}
	data := Dataset{Keys: 100_000, Concurrency: 4}
	if err := Load(t.Context(), s, data, untold); !errors.Is(err, errKilled) {
		t.Errorf("got %v", err)
	}
	if len(s.items) > 1000 || s.marker.Data != nil {
		t.Errorf("%d items were written; the marker says %+v", len(s.items), s.marker)
	}
}
