package spec

import (
	"strings"
	"testing"
)

func part(index, of int) map[string]any { return map[string]any{"index": index, "of": of} }

func TestAPartTakesItsShareOfAllThatIsCounted(t *testing.T) {
	sums := map[string]int{}
	for index := range 3 {
		s, err := Parse(changed(t, func(o map[string]any) {
			o["part"], o["lane_cap"] = part(index, 3), 10
			app := o["streams"].([]any)[0].(map[string]any)
			delete(app, "rate")
			app["concurrency"] = 8
			o["streams"] = append(o["streams"].([]any), map[string]any{
				"name": "play", "rate": 5, "play": map[string]any{
					"profile": "historic", "players": 10, "loaded_players": 4, "increment_space": "hot",
					"increment_keys": 5, "doc_scale": 1,
				},
			})
		}))
		if err != nil {
			t.Fatal(err)
		}
		sums["cap"] += s.LaneCap
		sums["workers"] += s.Streams[0].Concurrency
		sums["players"] += s.Streams[2].Play.Players
		sums["loaded"] += s.Streams[2].Play.LoadedPlayers
		sums["loading"] += s.Data.LoadConcurrency
		if s.Streams[1].Rate != 50 || s.Streams[1].LedgerKeys != 5 {
			t.Errorf("the rate and the key space are the load's: %+v", s.Streams[1])
		}
	}
	wanted := map[string]int{"cap": 10, "workers": 8, "players": 10, "loaded": 4, "loading": 16}
	for name, n := range wanted {
		if sums[name] != n {
			t.Errorf("%s: %d in all, wanted %d", name, sums[name], n)
		}
	}
}

func TestWhatCannotBeSharedOutIsRefused(t *testing.T) {
	money := func(change func(map[string]any)) func(map[string]any) {
		return func(o map[string]any) {
			o["part"] = part(1, 4)
			change(o["streams"].([]any)[1].(map[string]any))
		}
	}
	for wanted, change := range map[string]func(map[string]any){
		"`part` is 2 of 2": func(o map[string]any) { o["part"] = part(2, 2) },
		"`ledger_keys` is 3, which leaves none for some of 4": money(func(s map[string]any) { s["ledger_keys"] = 3 }),
	} {
		_, err := Parse(changed(t, change))
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("got %v, wanted %s", err, wanted)
		}
	}
}
