package model

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
	"brownout/loadgen/spec"
)

func playing(change func(*spec.Play)) *spec.Spec {
	play := &spec.Play{
		Profile: spec.Historic, Players: 8, LoadedPlayers: 3, FirstPlayer: 500,
		IncrementSpace: spec.WideSpace, IncrementKeys: 20, DocScale: 1,
	}
	if change != nil {
		change(play)
	}
	return &spec.Spec{Seed: 4711, Streams: []spec.Stream{{Name: "players", Play: play, Verified: true}}}
}

func TestAPlayerFollowsFromTheSeedAndTheID(t *testing.T) {
	wanted := playing(nil).Streams[0].Play
	if !reflect.DeepEqual(newPlayer(1, 500, wanted), newPlayer(1, 500, wanted)) {
		t.Error("the same player is another one")
	}
	if reflect.DeepEqual(newPlayer(1, 500, wanted).plays, newPlayer(1, 501, wanted).plays) ||
		reflect.DeepEqual(newPlayer(1, 500, wanted).plays, newPlayer(2, 500, wanted).plays) {
		t.Error("another player, or another seed, makes the same plays")
	}
}

func TestPlayersMakeAboutFortyFourPlaysWithFewInterventions(t *testing.T) {
	wanted := playing(nil).Streams[0].Play
	plays, interventions, most := 0, 0, 0
	const players = 4000
	for id := range int64(players) {
		p := newPlayer(7, id, wanted)
		plays, most = plays+len(p.plays), max(most, len(p.plays))
		for _, one := range p.plays {
			if one.intervention {
				interventions++
			}
		}
	}
	if mean := float64(plays) / players; math.Abs(mean-44) > 2 {
		t.Errorf("players make %.1f plays (wanted about 44)", mean)
	}
	if rate := float64(interventions) / float64(plays); math.Abs(rate-0.0012) > 0.0004 {
		t.Errorf("%.5f interventions a play (wanted about 0.0012)", rate)
	}
	if longest := 9*most + 2; longest >= 1<<stepBits {
		t.Errorf("a player has up to %d steps, more than %d bits number", longest, stepBits)
	}
}

func TestAHistoricPlayerInsertsTwiceAndIncrementsOnceAPlay(t *testing.T) {
	p := newPlayer(7, 500, playing(nil).Streams[0].Play)
	kinds := map[driver.Kind]int{}
	for _, s := range p.steps(spec.Historic) {
		kinds[s.kind()]++
	}
	if kinds[driver.Increment] != len(p.plays) || kinds[driver.Insert] < 2*len(p.plays)+2 || kinds[driver.Update] != 0 {
		t.Errorf("%d plays are %v", len(p.plays), kinds)
	}
}

func TestARealTimePlayerChangesItsRecordAtEachPlay(t *testing.T) {
	p := newPlayer(7, 500, playing(nil).Streams[0].Play)
	kinds := map[driver.Kind]int{}
	for _, s := range p.steps(spec.Realtime) {
		kinds[s.kind()]++
	}
	if kinds[driver.Update] < 3*len(p.plays) || kinds[driver.Increment] != len(p.plays) {
		t.Errorf("%d plays are %v", len(p.plays), kinds)
	}
}

func TestASmallerScaleMakesSmallerSnapshots(t *testing.T) {
	whole := newPlayer(7, 500, playing(nil).Streams[0].Play)
	part := newPlayer(7, 500, playing(func(p *spec.Play) { p.DocScale = 0.1 }).Streams[0].Play)
	if got, all := len(part.metrics(3)), len(whole.metrics(3)); all != 41 || got != 5 {
		t.Errorf("%d of %d figures are kept", got, all)
	}
}

// drawAll draws and acknowledges operations.
func drawAll(p *Players, n int, fate func(i int) (sent bool, fate ledger.Fate)) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		var op driver.Op
		p.Next(random, &op)
		sent, fate := fate(i)
		p.Ended(&op, sent, fate)
	}
}

func acknowledged(int) (bool, ledger.Fate) { return true, ledger.Acknowledged }

func load(p *Players) {
	for n := range p.Loaded() {
		for _, op := range p.LoadedPlayer(n, 0) {
			p.Ended(&op, true, ledger.Acknowledged)
		}
	}
}

func TestOnlyPlayersOfWhomAllWasAcknowledgedAreRead(t *testing.T) {
	p := NewPlayers(playing(nil), 0)
	load(p)
	drawAll(p, 20_000, func(i int) (bool, ledger.Fate) {
		if i%50 == 0 {
			return i%100 == 0, ledger.InDoubt
		}
		return acknowledged(i)
	})
	whole := len(p.finished)
	if whole < p.Loaded() {
		t.Fatalf("%d players can be read, fewer than were loaded", whole)
	}
	reader := NewReaders(&spec.Reader{Of: "players", HotShare: 0.5, WarmShare: 0.3, HotPlayers: 2, WarmS: 300}, p)
	random := rand.New(rand.NewPCG(3, 4))
	known := map[any]bool{}
	for _, one := range p.finished {
		known[one.id] = true
	}
	for range 2000 {
		var op driver.Op
		reader.Next(random, &op)
		if op.Document.Set == driver.SetPlayers && !known[op.Document.ID] {
			t.Fatalf("player %v is read, of whom not all was acknowledged", op.Document.ID)
		}
	}
}

func TestALedgerOfPlayersKnowsEachInsertAgain(t *testing.T) {
	p := NewPlayers(playing(nil), 0)
	random := rand.New(rand.NewPCG(1, 2))
	drawn := map[driver.DocumentKey]bool{}
	for range 3000 {
		var op driver.Op
		p.Next(random, &op)
		drawn[driver.DocumentKey{Set: op.Document.Set, ID: op.Document.ID}] = true
		p.Ended(&op, true, ledger.Acknowledged)
	}
	finder := &known{drawn}
	missing, players := int64(0), p.Roll().Len()
	_ = p.Roll().Lines("run", func(line *ledger.Line) error {
		missing += int64(line.AckedN)
		return nil
	})
	for place := range players {
		missing -= p.Roll().Find(t.Context(), finder, place).Value
	}
	if missing != 0 || players == 0 {
		t.Errorf("%d of the inserts of %d players are looked for elsewhere than they were written", missing, players)
	}
}

func TestAFewContendedTotalsAreCounted(t *testing.T) {
	p := NewPlayers(playing(func(p *spec.Play) { p.IncrementSpace, p.IncrementKeys = spec.HotSpace, 5 }), 0)
	drawAll(p, 3000, acknowledged)
	lines, sum := 0, uint64(0)
	_ = p.Totals().Lines("run", func(line *ledger.Line) error {
		lines, sum = lines+1, sum+line.AckedN
		return nil
	})
	if lines != 5 || sum < 700 || sum > 1300 {
		t.Errorf("%d totals with %d increments", lines, sum)
	}
}
