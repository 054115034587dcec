package model

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
	"brownout/loadgen/spec"
)

// votesOf returns the votes of one of so many generators.
func votesOf(share driver.Share) (*Votes, *ledger.Set) {
	s := &spec.Spec{Part: share, Streams: []spec.Stream{{
		Name: "votes", Verified: true, Vote: &spec.Vote{Choices: []string{"y", "n"}, Counters: 2},
	}}}
	set := ledger.NewSet(s.LedgerSets()[0], 0)
	set.ReadShare(share)
	return NewVotes(s, 0, set), set
}

func TestVotersOfAllGeneratorsAreThoseOfOneAndTheirBalancesAddUp(t *testing.T) {
	const of, each = 3, 2000
	voters, labels, stored := map[uint64]bool{}, map[string]int{}, map[string]int64{}
	finder := &known{map[driver.DocumentKey]bool{}}
	var all []*Votes
	var sets []*ledger.Set
	for index := range of {
		votes, set := votesOf(driver.Share{Index: index, Of: of})
		all, sets = append(all, votes), append(sets, set)
		random := rand.New(rand.NewPCG(uint64(index), 1))
		for range each {
			var op driver.Op
			votes.Next(random, &op)
			voters[op.Ballot.Voter] = true
			op.Ballot.Parts = [driver.Steps]driver.Part{driver.PartDone, driver.PartDone, driver.PartDone}
			finder.there[VoterKey(op.Ballot.Voter)] = true
			stored[op.Ballot.Total]++
			stored[op.Ballot.Count]++
			votes.Ended(&op, true, ledger.Acknowledged)
		}
	}
	if len(voters) != of*each || !voters[of*each-1] {
		t.Errorf("%d voters, wanted the first %d", len(voters), of*each)
	}
	var sum ledger.Balance
	for index, votes := range all {
		values := map[string]int64{}
		for _, id := range sets[index].IDs() {
			values[id] = stored[id]
			labels[id]++
		}
		for place := range votes.Roll().Len() {
			back := votes.Roll().Find(t.Context(), finder, place)
			values[back.ID] = back.Value
			labels[back.ID]++
		}
		balance := votes.Balance(values)
		if balance == nil {
			t.Fatalf("generator %d read everything that is its own and says nothing", index)
		}
		for _, side := range [][2]*ledger.Side{
			{&sum.Total, &balance.Total}, {&sum.Choices, &balance.Choices}, {&sum.Records, &balance.Records},
		} {
			side[0].Found += side[1].Found
			side[0].Acked += side[1].Acked
		}
	}
	want := ledger.Side{Found: of * each, Acked: of * each}
	if sum.Total != want || sum.Choices != want || sum.Records != want {
		t.Errorf("the balances come to %+v", sum)
	}
	if most := slices.Max(slices.Collect(maps.Values(labels))); most != 1 || len(labels) != 6+of*each/votersOfGroup {
		t.Errorf("%d lines are read, one of them %d times", len(labels), most)
	}
}

func TestPlayersOfAllGeneratorsAreThoseOfOne(t *testing.T) {
	const of = 3
	s := playing(nil)
	one := NewPlayers(s, 0)
	ids := map[int64]int{}
	for index := range of {
		part := playing(nil)
		part.Part = driver.Share{Index: index, Of: of}
		play := *part.Streams[0].Play
		play.LoadedPlayers, play.Players = part.Part.Count(play.LoadedPlayers), part.Part.Count(play.Players)
		part.Streams[0].Play = &play
		p := NewPlayers(part, 0)
		for n := range p.Loaded() {
			ids[int64(p.LoadedPlayer(n, 0)[0].Key>>stepBits)]++
		}
		for _, living := range p.inPlay {
			ids[living.id]++
			same := newPlayer(one.seed, living.id, one.wanted)
			if same.last != living.last || len(same.plays) != len(living.plays) {
				t.Errorf("player %d is another one", living.id)
			}
		}
	}
	loaded := s.Streams[0].Play.LoadedPlayers
	for n := range loaded {
		if ids[one.id(n)] != 1 {
			t.Errorf("player %d is loaded %d times", one.id(n), ids[one.id(n)])
		}
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("player %d belongs to %d generators", id, n)
		}
	}
}

func TestContendedTotalsAreReadByOneEach(t *testing.T) {
	read := map[string]int{}
	for index := range 2 {
		part := playing(func(p *spec.Play) { p.IncrementSpace, p.IncrementKeys = spec.HotSpace, 5 })
		part.Part = driver.Share{Index: index, Of: 2}
		totals := NewPlayers(part, 0).Totals()
		for place := range totals.Len() {
			read[totals.Find(t.Context(), &known{}, place).ID]++
		}
		lines := 0
		_ = totals.Lines("run", func(*ledger.Line) error { lines++; return nil })
		if lines != 5 {
			t.Errorf("generator %d promises of %d totals", index, lines)
		}
	}
	if len(read) != 5 || slices.Max(slices.Collect(maps.Values(read))) != 1 {
		t.Errorf("they read %v", read)
	}
}
