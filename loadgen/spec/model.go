package spec

import "fmt"

// MaxIncrementKeys is the number of counties.
const MaxIncrementKeys = 244

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
	if v := s.Vote; v != nil {
		p.holds(where+"the number of `vote.choices`", len(v.Choices), 1)
		p.holds(where+"`vote.counters`", v.Counters, 1)
		p.add(v.Counters <= mostHeld/(1+len(v.Choices)), "%s%d `vote.counters` of %d choices are too many", where, v.Counters, len(v.Choices))
		p.oneOf(where+"`vote.through`", v.Through, HTTP, Direct)
	}
	if g := s.Play; g != nil {
		p.oneOf(where+"`play.profile`", g.Profile, Historic, Realtime)
		p.oneOf(where+"`play.increment_space`", g.IncrementSpace, WideSpace, HotSpace)
		p.holds(where+"`play.players`", g.Players, 1)
		p.holds(where+"`play.loaded_players`", g.LoadedPlayers, 0)
		p.add(g.FirstPlayer >= 0 && g.FirstPlayer <= mostKeys, "%s`play.first_player` is %d (wanted 0 to %d)", where, g.FirstPlayer, int64(mostKeys))
		p.add(g.IncrementKeys > 0 && g.IncrementKeys <= MaxIncrementKeys,
			"%s`play.increment_keys` is %d (wanted 1 to %d)", where, g.IncrementKeys, MaxIncrementKeys)
		p.within(where+"`play.doc_scale`", g.DocScale, 0, 1)
	}
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
		if reader := s.Streams[i].Reader; reader != nil {
			where := fmt.Sprintf("stream %q: ", s.Streams[i].Name)
			p.add(loaded[reader.Of] > 0, "%s`reader.of` is %q (wanted a stream with `play` and `loaded_players`)", where, reader.Of)
			p.holds(where+"`reader.hot_players`", reader.HotPlayers, 1)
			p.add(s.Data.Load, "%sa reader needs `data.load`: it reads players that are loaded", where)
		}
	}
}
