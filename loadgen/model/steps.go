package model

import (
	"brownout/loadgen/driver"
	"brownout/loadgen/spec"
)

// what a step of a player's life writes.
type what uint8

const (
	intervention what = iota
	increment
	liveWager
	insertPlayer
	insertPlay
	insertHistory
	newGame
	deposit
	changePlayer
	pushWagers
	pushHistory
)

// step is one operation of a player: about a play, or about the player as a whole.
type step struct {
	what what
	play int
}

// steps lists a player's operations in their order.
//
//	historic   per play [intervention] increment, live wager; at the end the player, all
//	           plays, the history
//	realtime   the player and the history first; per play [new game, deposit] [intervention]
//	           increment, live wager, the player's metrics and wagers, the play, the history
func (p *player) steps(profile string) []step {
	if profile == spec.Realtime {
		return p.liveSteps()
	}
	all := make([]step, 0, 3*len(p.plays)+3)
	for i := range p.plays {
		all = p.public(all, i)
	}
	all = append(all, step{insertPlayer, len(p.plays) - 1})
	for i := range p.plays {
		all = append(all, step{insertPlay, i})
	}
	return append(all, step{insertHistory, len(p.plays) - 1})
}

func (p *player) liveSteps() []step {
	all := []step{{insertPlayer, -1}, {insertHistory, -1}}
	for i := range p.plays {
		if p.plays[i].firstOfGame {
			all = append(all, step{newGame, i}, step{deposit, i})
		}
		all = p.public(all, i)
		all = append(all, step{changePlayer, i}, step{pushWagers, i}, step{insertPlay, i}, step{pushHistory, i})
	}
	return all
}

// public are the steps of a play that others see.
func (p *player) public(all []step, i int) []step {
	if p.plays[i].intervention {
		all = append(all, step{intervention, i})
	}
	return append(all, step{increment, i}, step{liveWager, i})
}

// kind is the operation of a step.
func (s step) kind() driver.Kind {
	switch s.what {
	case intervention, liveWager, insertPlayer, insertPlay, insertHistory:
		return driver.Insert
	case increment:
		return driver.Increment
	}
	return driver.Update
}

// key is where the document of a step lies.
func (p *player) key(s step, totals totals) driver.DocumentKey {
	switch s.what {
	case intervention:
		return driver.DocumentKey{Set: driver.SetInterventions, ID: p.plays[s.play].wager ^ 1}
	case increment:
		return driver.DocumentKey{Set: driver.SetIncrements, ID: totals.of(p, s.play)}
	case liveWager:
		return driver.DocumentKey{Set: driver.SetLiveWagers, ID: p.liveID(s.play)}
	case insertPlay:
		return driver.DocumentKey{Set: driver.SetPlays, ID: p.plays[s.play].wager}
	case insertHistory, pushHistory:
		return driver.DocumentKey{Set: driver.SetPlayerHistories, ID: p.id}
	}
	return driver.DocumentKey{Set: driver.SetPlayers, ID: p.id}
}

// liveFeeds is how many feeds write live wagers: the published ids have the number of a
// thread in their high half, so that they lie in few ranges.
const liveFeeds = 16

func (p *player) liveID(play int) int64 {
	wager := p.plays[play].wager
	low := int64(mix(uint64(wager)) & 0xffff_ffff)
	return (p.id%liveFeeds+1)<<32 | low
}

// mix is the finisher of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// totals says which total a play counts for: nearly always a new one, or one of a few.
type totals struct{ hot int }

func totalsOf(wanted *spec.Play) totals {
	if wanted.IncrementSpace == spec.HotSpace {
		return totals{hot: wanted.IncrementKeys}
	}
	return totals{}
}

const second = "2006-01-02T15:04:05"

func (t totals) of(p *player, play int) string {
	if t.hot == 0 {
		return p.county.bucket(p.plays[play].at.Format(second))
	}
	return t.hotKey(int(mix(uint64(p.plays[play].wager)) % uint64(t.hot)))
}

// hotKey is the key of a hot total: one second, in so many counties.
func (t totals) hotKey(n int) string { return counties[n].bucket(epoch.Format(second)) }
