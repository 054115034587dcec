package scriptserver

import (
	"testing"
	"time"
)

// FuzzParse wants of every text either problems in words or a script that decides on operations at
// any time.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{lanes: 3, latency_ms: 1, effects: [{at: 1, for: 2, effect: error, share: 0.4, in_doubt: true}]}`))
	f.Add([]byte(`effects: [{at: 0, for: 1e300, effect: freeze, lane: 0}, {at: 1, effect: drop}]`))
	f.Add([]byte("effects:\n - {at: .nan, for: 1, effect: late, delay: .inf}\n"))
	f.Add([]byte("{ops_per_s: 1e-9, effects: [{at: 1, for: 1e9, effect: pace, ops_per_s: 500}]}"))
	f.Add([]byte("a: &a [*a]\nlanes: 64"))
	f.Add([]byte("{}\n---\nlanes: 2"))
	f.Fuzz(func(t *testing.T, text []byte) {
		script, err := Parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q is refused without a word", text)
			}
			return
		}
		decider := newDecider(script, script.Lanes-1)
		for _, at := range []time.Duration{0, time.Second, time.Hour, 1<<63 - 1} {
			for _, write := range []bool{false, true} {
				if p := decider.decide(at, write); p.delay < 0 {
					t.Errorf("%q answers %v before it was asked", text, -p.delay)
				}
			}
			lane := newLane(&Server{script: script}, script.Lanes-1, "lane")
			if due := lane.turnOf(time.Second, at); due < time.Second {
				t.Errorf("%q is done %v before it was asked", text, time.Second-due)
			}
			if end, frozen := script.frozenUntil(script.Lanes-1, at); frozen && end <= at {
				t.Errorf("%q is frozen at %v until %v", text, at, end)
			}
		}
	})
}
