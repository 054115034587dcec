package scriptserver

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Truth is what the server did to whom.
type Truth struct {
	T0UnixNS int64         `json:"t0_unix_ns"` // 0: the schedule never started
	EndT     float64       `json:"end_t"`
	Lanes    []string      `json:"lanes"`
	Effects  []EffectTruth `json:"effects"`
	TickS    float64       `json:"tick_s"`
	Timeline []timeline    `json:"timeline"` // per lane
	laneTruth
}

// EffectTruth is an effect of the script and what it did.
type EffectTruth struct {
	Effect
	Seen   uint64   `json:"seen"` // operations it could have hit while it lasted
	Hit    uint64   `json:"hit"`
	BeganT *float64 `json:"began_t,omitempty"` // of refuse and drop
	EndedT *float64 `json:"ended_t,omitempty"` // and of a freeze: all that it held back is done
}

type laneTruth struct {
	Received  uint64   `json:"received"`
	Applied   uint64   `json:"applied"` // writes
	Answered  uint64   `json:"answered"`
	Discarded uint64   `json:"discarded"` // received before a refusal and never done
	Lost      writings `json:"lost"`      // acknowledged and forgotten
	Late      writings `json:"late"`      // applied without an answer, later
	Corrupted writings `json:"corrupted"`

	timeline timeline
	open     map[string][]*writing // lost or late, and not yet covered, by key
	thawed   map[int]time.Duration // when all that a freeze held back was done, by effect
}

func newLaneTruth() laneTruth {
	return laneTruth{open: map[string][]*writing{}, thawed: map[int]time.Duration{}}
}

// writing is one write.
type writing struct {
	Key      string  `json:"key"`
	Seq      uint64  `json:"seq"`
	T        float64 `json:"t"`        // when it was received
	DoneT    float64 `json:"done_t"`   // when it was acknowledged or applied
	Replaced uint64  `json:"replaced"` // late: the sequence it overwrote
	Covered  bool    `json:"covered"`  // a later write of the key was acknowledged and kept
}

type writings []*writing

// mostWritings bounds each list; a script that hits more wants no list.
const mostWritings = 1_000_000

// add notes a write; nil if the list is full.
func (w *writings) add(j *job, t time.Duration, replaced uint64) *writing {
	if len(*w) == mostWritings {
		return nil
	}
	made := &writing{
		Key: j.request.Key, Seq: j.request.Seq, T: j.received.Seconds(), DoneT: t.Seconds(), Replaced: replaced,
	}
	*w = append(*w, made)
	return made
}

// copied is safe to be read while the lane runs.
func (w writings) copied() writings {
	copies := writings{}
	for _, one := range w {
		kept := *one
		copies = append(copies, &kept)
	}
	return copies
}

// wait keeps a write in mind until a later one of its key covers it.
func (l *laneTruth) wait(w *writing) {
	if w != nil {
		l.open[w.Key] = append(l.open[w.Key], w)
	}
}

// cover tells that a write of the key was acknowledged and kept.
func (l *laneTruth) cover(key string) {
	for _, w := range l.open[key] {
		w.Covered = true
	}
	delete(l.open, key)
}

// Truth returns what happened so far.
func (s *Server) Truth() Truth {
	truth := Truth{TickS: TickS, laneTruth: laneTruth{Lost: writings{}, Late: writings{}, Corrupted: writings{}}}
	for _, e := range s.script.Effects {
		truth.Effects = append(truth.Effects, EffectTruth{Effect: e})
	}
	for _, l := range s.lanes {
		l.addTo(&truth)
	}
	_, now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.zero.IsZero() {
		truth.T0UnixNS, truth.EndT = s.zero.UnixNano(), now.Seconds()
	}
	for _, turn := range s.turns {
		began, ended := turn.began.Seconds(), turn.ended.Seconds()
		truth.Effects[turn.effect].BeganT, truth.Effects[turn.effect].EndedT = &began, &ended
	}
	return truth
}

func (l *lane) addTo(truth *Truth) {
	l.mu.Lock()
	defer l.mu.Unlock()
	truth.Lanes = append(truth.Lanes, l.name)
	for i := range truth.Effects {
		truth.Effects[i].Seen += l.decider.seen[i]
		truth.Effects[i].Hit += l.decider.hit[i]
		if t, over := l.truth.thawed[i]; over {
			ended := t.Seconds()
			if e := truth.Effects[i].EndedT; e == nil || *e < ended {
				truth.Effects[i].EndedT = &ended
			}
		}
	}
	truth.Received += l.truth.Received
	truth.Applied += l.truth.Applied
	truth.Answered += l.truth.Answered
	truth.Discarded += l.truth.Discarded
	truth.Lost = append(truth.Lost, l.truth.Lost.copied()...)
	truth.Late = append(truth.Late, l.truth.Late.copied()...)
	truth.Corrupted = append(truth.Corrupted, l.truth.Corrupted.copied()...)
	truth.Timeline = append(truth.Timeline, l.truth.timeline.copied())
}

// WriteTruth replaces the file in one step.
func (s *Server) WriteTruth(path string) error {
	text, err := json.MarshalIndent(s.Truth(), "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write the truth: %w", err)
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("cannot write the truth: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("cannot write the truth: %w", err)
	}
	return nil
}
