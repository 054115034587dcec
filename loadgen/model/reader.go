package model

import (
	"math/rand/v2"
	"sort"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
	"brownout/loadgen/spec"
)

// Readers reads every record of one player after the other: the current state, the history,
// and the plays, latest first. Only players of whom every write was acknowledged are read.
type Readers struct {
	wanted *spec.Reader
	of     *Players
	left   []driver.DocumentKey
}

// NewReaders returns the source of a stream that reads players.
func NewReaders(wanted *spec.Reader, of *Players) *Readers { return &Readers{wanted: wanted, of: of} }

// Roll is nil: nothing is written.
func (r *Readers) Roll() *ledger.Roll { return nil }

// Next draws the next record of the player that is being read.
func (r *Readers) Next(random *rand.Rand, op *driver.Op) {
	if len(r.left) == 0 {
		r.left = r.of.records(r.of.choose(random, r.wanted), r.wanted.PlaysPerUser)
	}
	key := r.left[0]
	r.left = r.left[1:]
	op.Kind, op.Document = driver.Read, &driver.Document{Set: key.Set, ID: key.ID}
}

// Ended has nothing to note.
func (r *Readers) Ended(*driver.Op, bool, ledger.Fate) {}

// choose picks a player: of those who finished last, of those who did so a while ago, or of
// all. There always is one: players are loaded before the first read.
func (p *Players) choose(random *rand.Rand, wanted *spec.Reader) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.finished
	at := random.Float64()
	switch {
	case at < wanted.HotShare:
		all = all[max(0, len(all)-wanted.HotPlayers):]
	case at < wanted.HotShare+wanted.WarmShare:
		since := p.clock().Add(-time.Duration(wanted.WarmS * float64(time.Second)))
		first := sort.Search(len(all), func(i int) bool { return all[i].at.After(since) })
		if first < len(all) {
			all = all[first:]
		}
	}
	return all[random.IntN(len(all))].id
}

// records are the keys of a player's records, with so many of the plays; 0 is all.
func (p *Players) records(id int64, plays int) []driver.DocumentKey {
	one := newPlayer(p.seed, id, p.wanted)
	if plays == 0 || plays > len(one.plays) {
		plays = len(one.plays)
	}
	keys := []driver.DocumentKey{
		{Set: driver.SetPlayers, ID: id}, {Set: driver.SetPlayerHistories, ID: id},
	}
	for i := range plays {
		keys = append(keys, driver.DocumentKey{Set: driver.SetPlays, ID: one.plays[len(one.plays)-1-i].wager})
	}
	return keys
}
