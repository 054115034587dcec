package spec

import (
	"fmt"
	"math"
)

const maxParts = 1000

// Where several generators drive one load, each gets the whole specification and its part. It
// takes its share of all that is counted; rates are shared out where the arrivals are made.

// checkPart refuses what cannot be shared out so that all parts together do what one would.
func (s *Spec) checkPart(p *Problems) {
	p.add(s.Part.Of >= 0 && s.Part.Of <= maxParts && s.Part.Index >= 0 && s.Part.Index < s.Part.Parts(),
		"`part` is %d of %d (wanted an index from 0, below a number of at most %d)", s.Part.Index, s.Part.Of, maxParts)
	of := s.Part.Parts()
	if of == 1 {
		return
	}
	whole := func(what string, n int) {
		p.add(n == 0 || n >= of, "%s is %d, which is none for some of %d generators (wanted at least one each)", what, n, of)
	}
	whole("`lane_cap`", s.LaneCap)
	whole("`global_cap`", s.GlobalCap)
	for i := range s.Streams {
		stream := &s.Streams[i]
		where := fmt.Sprintf("stream %q: ", stream.Name)
		whole(where+"`concurrency`", stream.Concurrency)
		whole(where+"`ledger_keys`", int(stream.LedgerKeys))
		if play := stream.Play; play != nil {
			whole(where+"`play.players`", play.Players)
			whole(where+"`play.loaded_players`", play.LoadedPlayers)
		}
		if stream.Reader != nil {
			whole(where+"`reader.hot_players`", stream.Reader.HotPlayers)
		}
		stream.checkOwners(p, where, uint64(of))
	}
}

// checkOwners wants of a stream whose keys have one writer each that the keys can be dealt out
// with the same share of the operations for each generator.
func (s *Stream) checkOwners(p *Problems, where string, of uint64) {
	if !s.Verified || s.Modelled() {
		return
	}
	hot := s.Keys.Hot(s.LedgerKeys)
	p.add(s.Keys.Distribution != Zipf,
		"%s`keys.distribution` is zipf for verified keys, the hottest of which has one writer: "+
			"%d generators cannot share that out evenly (wanted uniform, gaussian or hot-set, or one generator)", where, of)
	p.add(s.Keys.Distribution != HotSet || hot%of == 0,
		"%s%d hot keys cannot be dealt out to %d generators (wanted a multiple of %d)", where, hot, of, of)
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
