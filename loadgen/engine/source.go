package engine

import (
	"context"
	"math/rand/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/ledger"
	"brownout/loadgen/model"
)

// source draws the operations of a stream that has more to say than a mix of keys. Next is
// called by one goroutine at a time; every operation that it drew is ended exactly once,
// also those that were never sent.
type source interface {
	Next(random *rand.Rand, op *driver.Op)
	Ended(op *driver.Op, sent bool, fate ledger.Fate)
	// Roll is what the source remembers of its inserts; nil for none.
	Roll() *ledger.Roll
}

// counted is a source that also remembers increments of documents.
type counted interface{ Totals() *ledger.Totals }

// balanced is a source whose parts have to be equal.
type balanced interface {
	Balance(values map[string]int64) *ledger.Balance
}

// Balances holds against each other what has to be equal; values are what was read back.
func (e *Engine) Balances(values map[string]int64) (all []*ledger.Balance) {
	for _, s := range e.streams {
		if of, ok := s.source.(balanced); ok {
			if balance := of.Balance(values); balance != nil {
				all = append(all, balance)
			}
		}
	}
	return all
}

// Promises is a part of the ledger that is about documents: lines of what was promised, and
// what is found of each.
type Promises interface {
	StreamName() string
	Len() int
	Lines(writer string, each func(*ledger.Line) error) error
	Find(ctx context.Context, finder driver.Finder, place int) driver.ReadBack
}

// Promises lists what the streams remember of documents.
func (e *Engine) Promises() (all []Promises) {
	for _, s := range e.streams {
		if s.source == nil {
			continue
		}
		if roll := s.source.Roll(); roll != nil {
			all = append(all, roll)
		}
		if of, ok := s.source.(counted); ok && of.Totals() != nil {
			all = append(all, of.Totals())
		}
	}
	return all
}

// addSources gives each stream the source that it asks for; a mix of keys needs none. Who
// reads players shares those of another stream.
func (e *Engine) addSources() {
	players := map[string]*model.Players{}
	for i, s := range e.streams {
		switch {
		case s.spec.Vote != nil:
			s.source = model.NewVotes(e.spec, i, s.counters)
		case s.spec.Play != nil:
			players[s.spec.Name] = model.NewPlayers(e.spec, i)
			s.source = players[s.spec.Name]
		}
	}
	for _, s := range e.streams {
		if s.spec.Reader != nil {
			s.source = model.NewReaders(s.spec.Reader, players[s.spec.Reader.Of])
		}
	}
}

// drawFrom fills in an operation from the stream's source.
func (s *stream) drawFrom(o *operation) {
	o.op.Stream = s.index
	s.source.Next(s.random, &o.op)
	for i, kind := range s.kinds {
		if kind == o.op.Kind {
			o.slot = s.firstSlot + i
		}
	}
}

// tell says to a source what became of an operation.
func (s *stream) tell(o *operation, end account.End) {
	sent := end != account.Shed && end != account.Missed
	s.source.Ended(&o.op, sent, fate(end))
}
