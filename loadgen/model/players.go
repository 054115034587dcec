package model

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
	"brownout/loadgen/spec"
)

// stepBits are those of an operation's key that number the step of its player.
const stepBits = 12

// Players draws the operations of players, one step of one player after another. What a
// player writes follows from the seed and its id, so that it need not be remembered.
type Players struct {
	name   string
	seed   uint64
	wanted *spec.Play
	totals totals
	clock  func() time.Time
	share  driver.Share

	// Of what is drawn; guarded by the stream.
	inPlay []*living
	turn   int
	nextID int64

	mu       sync.Mutex
	open     map[int64]*progress
	finished []finished
	verified *verified // nil if the stream is not verified
}

// living is a player in play.
type living struct {
	*player
	steps []step
	next  int
}

// progress is what of a player has ended.
type progress struct {
	left int  // steps that have not ended
	bad  bool // one of them was not acknowledged, or never drawn
}

// finished is a player of whom everything was acknowledged.
type finished struct {
	id int64
	at time.Time
}

// NewPlayers returns the source of a stream of players.
func NewPlayers(s *spec.Spec, stream int) *Players {
	of := &s.Streams[stream]
	p := &Players{
		name: of.Name, seed: s.Seed, wanted: of.Play, totals: totalsOf(of.Play), clock: time.Now,
		share: s.Part, open: map[int64]*progress{},
	}
	p.nextID = p.id(of.Play.LoadedPlayers)
	if of.Verified {
		p.verified = newVerified(p, stream)
	}
	p.populate(rand.New(rand.NewPCG(s.Part.Seed(s.Seed), mix(uint64(stream)+1))))
	return p
}

// id is that of the generator's player number n: of several, each has every so many-th one.
func (p *Players) id(n int) int64 {
	return p.wanted.FirstPlayer + int64(p.share.Index) + int64(n)*int64(p.share.Parts())
}

// manySteps are more than nearly every player has.
const manySteps = 600

// populate puts the first players in play, somewhere in the middle of their lives, so that
// the mix is the usual one from the beginning. The chance to meet a player at a moment is
// proportional to the length of his life, so that is how they are chosen.
func (p *Players) populate(random *rand.Rand) {
	for len(p.inPlay) < p.wanted.Players {
		one := p.begin()
		if random.IntN(manySteps) < len(one.steps) {
			p.inPlay = append(p.inPlay, p.enter(one, random.IntN(len(one.steps))))
		}
	}
}

// Roll is what is remembered of the inserts.
func (p *Players) Roll() *ledger.Roll {
	if p.verified == nil {
		return nil
	}
	return p.verified.roll
}

// Totals are the few contended totals, if there are any.
func (p *Players) Totals() *ledger.Totals {
	if p.verified == nil {
		return nil
	}
	return p.verified.totals
}

// Next draws the next step of the player whose turn it is.
func (p *Players) Next(_ *rand.Rand, op *driver.Op) {
	one := p.inPlay[p.turn]
	if one.next == len(one.steps) {
		one = p.enter(p.begin(), 0)
		p.inPlay[p.turn] = one
	}
	p.turn = (p.turn + 1) % len(p.inPlay)
	p.fill(op, one.player, one.steps[one.next], one.next)
	one.next++
}

// begin draws the next player.
func (p *Players) begin() *living {
	one := newPlayer(p.seed, p.nextID, p.wanted)
	p.nextID += int64(p.share.Parts())
	return &living{player: one, steps: one.steps(p.wanted.Profile)}
}

// enter has a player's life begin at a step.
func (p *Players) enter(one *living, at int) *living {
	one.next = at
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[one.id] = &progress{left: len(one.steps) - at, bad: at > 0}
	return one
}

func (p *Players) fill(op *driver.Op, of *player, s step, number int) {
	op.Kind, op.Document = s.kind(), of.document(s, p.totals)
	op.Key = uint64(of.id)<<stepBits | uint64(number)
	if p.verified != nil {
		op.Document.There = p.verified.there(of.id, s, op)
	}
}

// Ended notes what became of a step.
func (p *Players) Ended(op *driver.Op, sent bool, fate ledger.Fate) {
	id, number := int64(op.Key>>stepBits), int(op.Key&(1<<stepBits-1))
	if sent && p.verified != nil {
		p.verified.book(id, number, op, fate)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.open[id]
	one.left--
	one.bad = one.bad || !sent || fate != ledger.Acknowledged
	if one.left > 0 {
		return
	}
	delete(p.open, id)
	if !one.bad {
		p.finished = append(p.finished, finished{id, p.clock()})
	}
}

// Loaded is how many whole players are written before the load.
func (p *Players) Loaded() int { return p.wanted.LoadedPlayers }

// LoadedPlayer lists the operations of one of them; each has to be ended.
func (p *Players) LoadedPlayer(n int, stream int) []driver.Op {
	one := newPlayer(p.seed, p.id(n), p.wanted)
	steps := one.steps(p.wanted.Profile)
	p.enter(&living{player: one, steps: steps}, 0)
	ops := make([]driver.Op, len(steps))
	for i, s := range steps {
		ops[i].Stream = stream
		p.fill(&ops[i], one, s, i)
	}
	return ops
}

// verified is the ledger of players: their inserts, player by player, and the totals.
type verified struct {
	players *Players
	roll    *ledger.Roll
	totals  *ledger.Totals // nil in the wide space, where a total is one of the inserts
	mu      sync.Mutex
	recent  *living // the player whose keys were wanted last
}

func newVerified(p *Players, stream int) *verified {
	v := &verified{players: p}
	v.roll = &ledger.Roll{Stream: stream, Name: p.name, Key: v.key, Label: func(id uint64) string {
		return fmt.Sprintf("%s:player %d", p.name, id)
	}}
	if p.totals.hot > 0 {
		v.totals = &ledger.Totals{Stream: stream, Name: p.name, Set: driver.SetIncrements, Field: CountField, Share: p.share}
		for i := range p.totals.hot {
			v.totals.IDs = append(v.totals.IDs, p.totals.hotKey(i))
		}
	}
	return v
}

// there tells whether the document that a step changes was acknowledged: a player's record and
// history are the first two steps of a life that they are changed in.
func (v *verified) there(id int64, s step, op *driver.Op) bool {
	switch {
	case op.Kind == driver.Increment && v.totals != nil:
		return v.totals.There(op.Document.ID.(string))
	case s.what == pushHistory:
		return v.roll.Acked(uint64(id), 1)
	case op.Kind == driver.Update:
		return v.roll.Acked(uint64(id), 0)
	}
	return false
}

func (v *verified) book(id int64, number int, op *driver.Op, fate ledger.Fate) {
	switch {
	case op.Kind == driver.Insert, op.Kind == driver.Increment && v.totals == nil:
		v.roll.Book(uint64(id), number, fate)
	case op.Kind == driver.Increment:
		v.totals.Book(op.Document.ID.(string), fate, op.Document.Remade)
	}
}

// key works out again where a step of a player wrote.
func (v *verified) key(id uint64, number int) driver.DocumentKey {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.recent == nil || v.recent.id != int64(id) {
		one := newPlayer(v.players.seed, int64(id), v.players.wanted)
		v.recent = &living{player: one, steps: one.steps(v.players.wanted.Profile)}
	}
	return v.recent.key(v.recent.steps[number], v.players.totals)
}
