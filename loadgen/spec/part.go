package spec

import "math"

const maxParts = 1000

// Where several generators drive one load, each gets the whole specification and its part. It
// takes its share of all that is counted; rates are shared out where the arrivals are made.

// checkPart wants at least one for each part of what every part needs. What is shared out
// unevenly is refused before, by those who start the parts.
func (s *Spec) checkPart(p *Problems) {
	p.add(s.Part.Of >= 0 && s.Part.Of <= maxParts && s.Part.Index >= 0 && s.Part.Index < s.Part.Parts(),
		"`part` is %d of %d (wanted an index from 0, below a number of at most %d)", s.Part.Index, s.Part.Of, maxParts)
	of := s.Part.Parts()
	whole := func(stream *Stream, what string, n int) {
		p.add(n == 0 || n >= of, "stream %q: `%s` is %d, which leaves none for some of %d generators (wanted at least one each)",
			stream.Name, what, n, of)
	}
	for i := range s.Streams {
		stream := &s.Streams[i]
		whole(stream, "concurrency", stream.Concurrency)
		whole(stream, "ledger_keys", int(stream.LedgerKeys))
		if play := stream.Play; play != nil {
			whole(stream, "play.players", play.Players)
			whole(stream, "play.loaded_players", play.LoadedPlayers)
		}
		if stream.Reader != nil {
			whole(stream, "reader.hot_players", stream.Reader.HotPlayers)
		}
	}
}

// Hot is how many of n keys are hot.
func (k *Keys) Hot(n uint64) uint64 {
	return min(max(uint64(math.Floor(k.HotKeys*float64(n)+0.5)), 1), n)
}

// takeShare leaves of all that is counted the part's share.
func (s *Spec) takeShare() {
	share := s.Part
	s.LaneCap, s.GlobalCap = share.Count(s.LaneCap), share.Count(s.GlobalCap)
	s.Data.LoadConcurrency = max(share.Count(s.Data.LoadConcurrency), 1)
	for i := range s.Streams {
		stream := &s.Streams[i]
		stream.Concurrency = share.Count(stream.Concurrency)
		if stream.Vote != nil {
			stream.Vote.Connections = max(share.Count(stream.Vote.Connections), 1)
		}
		if stream.Play != nil {
			stream.Play.Players = share.Count(stream.Play.Players)
			stream.Play.LoadedPlayers = share.Count(stream.Play.LoadedPlayers)
		}
		if stream.Reader != nil {
			stream.Reader.HotPlayers = share.Count(stream.Reader.HotPlayers)
		}
	}
}
