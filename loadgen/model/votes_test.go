package model

import (
	"context"
	"math/rand/v2"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
	"brownout/loadgen/spec"
)

// known finds what it was told of.
type known struct{ there map[driver.DocumentKey]bool }

func (k *known) Have(_ context.Context, keys []driver.DocumentKey) ([]bool, error) {
	have := make([]bool, len(keys))
	for i, key := range keys {
		have[i] = k.there[key]
	}
	return have, nil
}

func (k *known) Count(context.Context, driver.DocumentKey, string) (int64, bool, error) {
	return 0, false, nil
}

func (k *known) Close() {}

func voting(counters int) (*Votes, *ledger.Set) {
	s := &spec.Spec{Streams: []spec.Stream{{
		Name: "votes", Verified: true, Vote: &spec.Vote{Choices: []string{"y", "n"}, Counters: counters},
	}}}
	set := ledger.NewSet(s.LedgerSets()[0], 0)
	return NewVotes(s, 0, set), set
}

func TestEveryVoterVotesOnceAndEachStepHasItsPlaceInTheLedger(t *testing.T) {
	votes, set := voting(3)
	random := rand.New(rand.NewPCG(1, 2))
	voters := map[uint64]bool{}
	finder := &known{map[driver.DocumentKey]bool{}}
	values := map[string]int64{}
	for range 2500 {
		var op driver.Op
		votes.Next(random, &op)
		voters[op.Ballot.Voter] = true
		op.Ballot.Parts = [driver.Steps]driver.Part{driver.PartDone, driver.PartDone, driver.PartDone}
		finder.there[VoterKey(op.Ballot.Voter)] = true
		values[op.Ballot.Total]++
		values[op.Ballot.Count]++
		votes.Ended(&op, true, ledger.Acknowledged)
	}
	if len(voters) != 2500 || len(set.IDs()) != 9 {
		t.Fatalf("%d voters, %d counters", len(voters), len(set.IDs()))
	}
	for place := range votes.Roll().Len() {
		back := votes.Roll().Find(t.Context(), finder, place)
		values[back.ID] = back.Value
	}
	wanted := ledger.Side{Found: 2500, Acked: 2500}
	if b := votes.Balance(values); b == nil || b.Total != wanted || b.Choices != wanted || b.Records != wanted {
		t.Errorf("the balance is %+v", b)
	}
}

func TestAGeneratorThatBookedNoVoteDoesNotKnowWhatTheCountersHold(t *testing.T) {
	_, set := voting(3)
	_ = set.Lines("", func(line *ledger.Line) error {
		if line.Known != nil {
			t.Errorf("it knows %v of %s", *line.Known, line.Key)
		}
		return nil
	})
}

func TestALostRecordIsNotMadeUpForByOneInDoubt(t *testing.T) {
	votes, _ := voting(1)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 3 {
		var op driver.Op
		votes.Next(random, &op)
		op.Ballot.Parts[driver.StepRecord] = driver.PartDone
		if i == 2 {
			op.Ballot.Parts[driver.StepRecord] = driver.PartInDoubt
		}
		votes.Ended(&op, true, ledger.InDoubt)
	}
	there := &known{map[driver.DocumentKey]bool{VoterKey(0): true, VoterKey(2): true}}
	if back := votes.Roll().Find(t.Context(), there, 0); back.Value != 1 {
		t.Errorf("%d records are found of two acknowledged, one of which is gone (wanted 1)", back.Value)
	}
	there.there[VoterKey(1)] = true
	if back := votes.Roll().Find(t.Context(), there, 0); back.Value != 3 {
		t.Errorf("%d records are found (wanted the two acknowledged and the one in doubt)", back.Value)
	}
}

func TestAVoteThatWasNeverSentIsNotInTheLedger(t *testing.T) {
	votes, _ := voting(1)
	var op driver.Op
	votes.Next(rand.New(rand.NewPCG(1, 2)), &op)
	votes.Ended(&op, false, ledger.Failed)
	if votes.Roll().Len() != 0 {
		t.Error("a vote that was shed is looked for")
	}
}
