package spec

import (
	"fmt"
	"regexp"
)

const (
	maxChoices     = 100
	maxCounters    = 1000
	maxConnections = 20_000
	maxPlayers     = 1_000_000
	// MaxIncrementKeys is the number of counties.
	MaxIncrementKeys = 244
)

var choiceName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// settle gives a stream that is drawn by a model the operations that it will do; how often
// each, the model says.
func (s *Stream) settle() {
	switch {
	case s.Vote != nil:
		s.Mix = map[string]float64{"vote": 1}
		s.Vote.settle()
	case s.Play != nil:
		s.Mix = map[string]float64{"insert": 2, "increment": 1}
		if s.Play.Profile == Realtime {
			s.Mix["update"] = 3
		}
	case s.Reader != nil:
		s.Mix = map[string]float64{"read": 1}
	}
}

func (v *Vote) settle() {
	v.Counters, v.Through = max(v.Counters, 1), orText(v.Through, HTTP)
	if v.Connections == 0 {
		v.Connections = 100
	}
}

// Modelled tells whether the operations of the stream are drawn by a model.
func (s *Stream) Modelled() bool { return s.Vote != nil || s.Play != nil || s.Reader != nil }

// WritesDocuments tells whether any stream writes documents, apart from the plain data.
func (s *Spec) WritesDocuments() bool {
	for i := range s.Streams {
		if s.Streams[i].Modelled() {
			return true
		}
	}
	return false
}

func (s *Stream) checkModel(p *Problems, where string) {
	p.add(s.Mix["vote"] == 0 || s.Vote != nil, "%s`mix` has votes, but there is no `vote`", where)
	if s.Vote != nil {
		s.Vote.check(p, where)
	}
	if s.Play != nil {
		s.Play.check(p, where)
	}
}

func (g *Play) check(p *Problems, where string) {
	checkOneOf(p, where+"`play.profile`", g.Profile, Historic, Realtime)
	checkOneOf(p, where+"`play.increment_space`", g.IncrementSpace, WideSpace, HotSpace)
	p.add(g.Players > 0 && g.Players <= maxPlayers, "%s`play.players` is %d (wanted 1 to %d)", where, g.Players, maxPlayers)
	p.add(g.LoadedPlayers >= 0 && g.LoadedPlayers <= maxPlayers,
		"%s`play.loaded_players` is %d (at most %d)", where, g.LoadedPlayers, maxPlayers)
	p.add(g.FirstPlayer >= 0 && g.FirstPlayer < 1<<30, "%s`play.first_player` is %d (wanted 0 to 2^30)", where, g.FirstPlayer)
	p.add(g.IncrementKeys > 0 && g.IncrementKeys <= MaxIncrementKeys,
		"%s`play.increment_keys` is %d (wanted 1 to %d)", where, g.IncrementKeys, MaxIncrementKeys)
	p.add(within(g.DocScale, 0.01, 1), "%s`play.doc_scale` is %v (wanted 0.01 to 1)", where, g.DocScale)
}

// checkReaders wants of each reader a stream of players that are there before it reads.
func (s *Spec) checkReaders(p *Problems) {
	loaded := map[string]int{}
	for i := range s.Streams {
		if play := s.Streams[i].Play; play != nil {
			loaded[s.Streams[i].Name] = play.LoadedPlayers
		}
	}
	for i := range s.Streams {
		reader := s.Streams[i].Reader
		if reader == nil {
			continue
		}
		where := fmt.Sprintf("stream %q: ", s.Streams[i].Name)
		p.add(loaded[reader.Of] > 0, "%s`reader.of` is %q (wanted a stream with `play` and `loaded_players`)", where, reader.Of)
		p.add(reader.HotPlayers > 0 && reader.PlaysPerUser >= 0 && within(reader.WarmS, 0.001, 1e6),
			"%s`reader` needs hot_players and warm_s above 0", where)
		p.add(s.Data.Load, "%sa reader needs `data.load`: it reads players that are loaded", where)
	}
}

func (v *Vote) check(p *Problems, where string) {
	p.add(len(v.Choices) > 0 && len(v.Choices) <= maxChoices,
		"%s`vote.choices` has %d (wanted 1 to %d)", where, len(v.Choices), maxChoices)
	seen := map[string]bool{}
	for _, choice := range v.Choices {
		p.add(choiceName.MatchString(choice) && !seen[choice],
			"%s`vote.choices` has %q (wanted small letters, digits and -, each name once)", where, choice)
		seen[choice] = true
	}
	p.add(v.Counters <= maxCounters, "%s`vote.counters` is %d (at most %d)", where, v.Counters, maxCounters)
	p.add(v.Connections > 0 && v.Connections <= maxConnections,
		"%s`vote.connections` is %d (wanted 1 to %d)", where, v.Connections, maxConnections)
	checkOneOf(p, where+"`vote.through`", v.Through, HTTP, Direct)
}
