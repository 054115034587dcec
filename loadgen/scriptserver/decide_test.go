package scriptserver

import (
	"math"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"brownout/loadgen/scriptserver/wire"
)

func parsed(t *testing.T, text string) *Script {
	t.Helper()
	script, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return script
}

func TestAShareHitsExactlyThatMany(t *testing.T) {
	property := func(seed uint64, percent uint8) bool {
		share := float64(percent%100+1) / 100
		script := &Script{Lanes: 1, Seed: seed, Effects: []Effect{{Effect: Error, For: 10, Share: share}}}
		d := newDecider(script, 0)
		for range 1000 {
			d.decide(time.Second, false)
		}
		return math.Abs(float64(d.hit[0])-1000*share) <= 1 && d.seen[0] == 1000
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestEachEffectDecidesAsItSays(t *testing.T) {
	cases := map[string]struct {
		effect string
		write  bool
		wanted plan
	}{
		"error":             {"{effect: error, cause: key-busy, code: x, at: 1, for: 2}", true, plan{answer: true, status: wire.Failed, cause: "key-busy", code: "x"}},
		"error by default":  {"{effect: error, at: 1, for: 2}", false, plan{answer: true, status: wire.Failed, cause: "overloaded"}},
		"in doubt, applied": {"{effect: error, in_doubt: true, applied: true, at: 1, for: 2}", true, plan{apply: true, answer: true, status: wire.InDoubt, cause: "overloaded"}},
		"a read is never so": {"{effect: error, in_doubt: true, at: 1, for: 2}", false,
			plan{answer: true, status: wire.Failed, cause: "overloaded"}},
		"silence":      {"{effect: silence, at: 1, for: 2}", true, plan{}},
		"lose":         {"{effect: lose, at: 1, for: 2}", true, plan{answer: true}},
		"late":         {"{effect: late, delay: 3, at: 1, for: 2}", true, plan{apply: true, delay: 3 * time.Second}},
		"corrupt":      {"{effect: corrupt, at: 1, for: 2}", true, plan{apply: true, answer: true, corrupt: true}},
		"not a write":  {"{effect: lose, at: 1, for: 2}", false, plan{apply: true, answer: true, effect: -1}},
		"not yet":      {"{effect: silence, at: 2.5, for: 2}", true, plan{apply: true, answer: true, effect: -1}},
		"no more":      {"{effect: silence, at: 1, for: 1}", true, plan{apply: true, answer: true, effect: -1}},
		"another lane": {"{effect: silence, lane: 1, at: 1, for: 2}", true, plan{apply: true, answer: true, effect: -1}},
		"only reads":   {"{effect: silence, only: read, at: 1, for: 2}", true, plan{apply: true, answer: true, effect: -1}},
		"latency":      {"{effect: latency, ms: 20, at: 1, for: 2}", true, plan{apply: true, answer: true, effect: -1, delay: 20 * time.Millisecond}},
	}
	for name, test := range cases {
		script := parsed(t, "lanes: 2\neffects:\n- "+test.effect)
		if got := newDecider(script, 0).decide(2*time.Second, test.write); got != test.wanted {
			t.Errorf("%s: got %+v, wanted %+v", name, got, test.wanted)
		}
	}
}

func TestAFreezeEndsWhenTheLastOneDoes(t *testing.T) {
	script := parsed(t, "lanes: 2\neffects: [{effect: freeze, at: 1, for: 2}, {effect: freeze, at: 2, for: 3, lane: 1}]")
	for _, test := range []struct {
		lane   int
		t, end time.Duration
	}{{0, 0, 0}, {0, time.Second, 3 * time.Second}, {1, 2 * time.Second, 5 * time.Second}, {0, 3 * time.Second, 0}} {
		end, frozen := script.frozenUntil(test.lane, test.t)
		if end != test.end || frozen != (test.end > 0) {
			t.Errorf("lane %d at %v: frozen until %v, wanted %v", test.lane, test.t, end, test.end)
		}
	}
}

func TestALaneDoesOneAfterTheOtherAtItsPace(t *testing.T) {
	script := parsed(t, "lanes: 2\nops_per_s: 100\neffects: [{effect: pace, ops_per_s: 10, at: 1, for: 2, lane: 1}]")
	server := &Server{script: script}
	for _, test := range []struct {
		lane int
		t    time.Duration
		took time.Duration
	}{{0, 0, 10 * time.Millisecond}, {0, time.Second, 10 * time.Millisecond}, {1, time.Second, 100 * time.Millisecond},
		{1, 3 * time.Second, 10 * time.Millisecond}} {
		l := newLane(server, test.lane, "lane")
		const now = time.Hour
		for n := range time.Duration(3) {
			if due := l.turnOf(now, test.t); due != now+(n+1)*test.took {
				t.Errorf("lane %d at %v: operation %d is done after %v", test.lane, test.t, n+1, due-now)
			}
		}
	}
	if got := newLane(&Server{script: parsed(t, "")}, 0, "").turnOf(time.Second, 0); got != time.Second {
		t.Errorf("without a pace it is done at %v", got)
	}
}

func TestABadScriptIsRefusedWithAllItsFaults(t *testing.T) {
	_, err := Parse([]byte("lanes: 0\neffects: [{effect: explode, at: -1, for: 1}, {effect: latency, at: 1, for: 1}, {effect: drop, at: 1, for: 2}, {effect: pace, at: 1, for: 2}]\nops_per_s: -1"))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, wanted := range []string{"`lanes` is 0", "explode", "`at` is -1", "`ms` is 0", "effect 3 (drop): `for`", "effect 4 (pace): `ops_per_s`", "`ops_per_s` is -1"} {
		if !strings.Contains(err.Error(), wanted) {
			t.Errorf("%v\ndoes not say %q", err, wanted)
		}
	}
	if _, err := Parse([]byte("effect: []")); err == nil || !strings.Contains(err.Error(), "effect") {
		t.Errorf("an unknown field: %v", err)
	}
}

func TestAScriptMayBeJSONOrEmpty(t *testing.T) {
	for _, text := range []string{"", `{"lanes": 3, "effects": [{"effect": "drop", "at": 1}]}`} {
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
