// Package model draws operations that follow from one another: votes, and players of games.
package model

import (
	"fmt"
	"math/rand/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
	"brownout/loadgen/spec"
)

// votersOfGroup is how many voters share a line of the ledger.
const votersOfGroup = 1000

// Votes draws votes: each of a voter who never voted before, for one of the choices. The
// counters of the stream's ledger are first those of the total, then those of each choice.
type Votes struct {
	stream   int
	name     string
	wanted   *spec.Vote
	counters *ledger.Set  // nil if the stream is not verified
	roll     *ledger.Roll // likewise
	share    driver.Share
	next     uint64
}

// NewVotes returns the source of a stream of votes.
func NewVotes(s *spec.Spec, stream int, counters *ledger.Set) *Votes {
	v := &Votes{stream: stream, name: s.Streams[stream].Name, wanted: s.Streams[stream].Vote, counters: counters}
	v.share, v.next = s.Part, uint64(s.Part.Index)*votersOfGroup
	if counters == nil {
		return v
	}
	counters.Share()
	v.roll = &ledger.Roll{Stream: stream, Name: v.name, Label: v.label, Key: voterKey}
	return v
}

func (v *Votes) label(group uint64) string {
	return fmt.Sprintf("%s:voters %d to %d", v.name, group*votersOfGroup, (group+1)*votersOfGroup-1)
}

func voterKey(group uint64, number int) driver.DocumentKey {
	return VoterKey(group*votersOfGroup + uint64(number))
}

// VoterKey is where a voter's record lies.
func VoterKey(voter uint64) driver.DocumentKey {
	return driver.DocumentKey{Set: driver.SetVotes, ID: int64(voter)}
}

// Roll is what is remembered of the voters' records.
func (v *Votes) Roll() *ledger.Roll { return v.roll }

// Next draws the vote of the next voter.
func (v *Votes) Next(random *rand.Rand, op *driver.Op) {
	choice := random.IntN(len(v.wanted.Choices))
	op.Kind, op.Key = driver.Vote, v.next
	op.Ballot = BallotOf(v.name, v.wanted, v.next, choice)
	if v.next++; v.next%votersOfGroup == 0 { // whole groups are dealt out in turn
		v.next += uint64(v.share.Parts()-1) * votersOfGroup
	}
}

// BallotOf is a voter's ballot with the counters that it goes to.
func BallotOf(stream string, wanted *spec.Vote, voter uint64, choice int) *driver.Ballot {
	total, count := countersOf(wanted, voter, choice)
	return &driver.Ballot{
		Voter: voter, Choice: wanted.Choices[choice],
		Total: driver.LedgerID(stream, true, total), Count: driver.LedgerID(stream, true, count),
	}
}

// countersOf are the numbers of a vote's counters: each is split into so many, by voter.
func countersOf(wanted *spec.Vote, voter uint64, choice int) (total, count uint64) {
	shards := uint64(wanted.Counters)
	shard := voter % shards
	return shard, uint64(choice+1)*shards + shard
}

// Ended notes what became of each step of a vote.
func (v *Votes) Ended(op *driver.Op, sent bool, _ ledger.Fate) {
	if !sent || v.counters == nil {
		return
	}
	ballot := op.Ballot
	choice := 0
	for v.wanted.Choices[choice] != ballot.Choice {
		choice++
	}
	total, count := countersOf(v.wanted, ballot.Voter, choice)
	if fate, known := fateOf(ballot.Parts[driver.StepRecord]); known {
		v.roll.Book(ballot.Voter/votersOfGroup, int(ballot.Voter%votersOfGroup), fate)
	}
	v.tally(total, ballot.Parts[driver.StepTotal])
	v.tally(count, ballot.Parts[driver.StepChoice])
}

func (v *Votes) tally(counter uint64, part driver.Part) {
	if fate, known := fateOf(part); known {
		v.counters.Tally(counter, fate)
	}
	if part == driver.PartRemade {
		v.counters.Remade(counter)
	}
}

func fateOf(part driver.Part) (fate ledger.Fate, known bool) {
	switch part {
	case driver.PartDone, driver.PartRemade:
		return ledger.Acknowledged, true
	case driver.PartFailed:
		return ledger.Failed, true
	case driver.PartInDoubt:
		return ledger.InDoubt, true
	}
	return 0, false
}

// Balance holds the total, the choices and the records against each other. values are what
// was read here, by the label of its line; nil if any was not. Of several generators each says
// what it has read and was promised: their balances add up.
func (v *Votes) Balance(values map[string]int64) *ledger.Balance {
	if v.counters == nil {
		return nil
	}
	b := &ledger.Balance{Check: "votes", Stream: v.name}
	whole, number := true, 0
	add := func(line *ledger.Line, to *ledger.Side, readHere bool) {
		found, read := values[line.Key]
		whole = whole && (read || !readHere)
		to.Add(line, found)
	}
	_ = v.counters.Lines("", func(line *ledger.Line) error {
		side := &b.Choices
		if number < v.wanted.Counters {
			side = &b.Total
		}
		add(line, side, v.share.Has(uint64(number)))
		number++
		return nil
	})
	_ = v.roll.Lines("", func(line *ledger.Line) error {
		add(line, &b.Records, true)
		return nil
	})
	if !whole {
		return nil
	}
	return b
}
