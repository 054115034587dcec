package spec

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"brownout/loadgen/driver"
)

func init() { driver.Register("fake", func() driver.Driver { return nil }) }

const good = `{"schema":1,"dir":"runs/x","seed":4711,"writer":"run","driver":"fake",
 "connection":{"uri":"u","password":"p","tls":{"enabled":true}},"namespace":"n",
 "data":{"keys":10,"value_bytes":8,"load":true},
 "streams":[
  {"name":"app","mix":{"read":0.7,"update":0.3},"rate":600},
  {"name":"money","mix":{"update":1,"increment":1},"rate":50,"verified":true,"ledger_keys":5}]}`

func changed(t *testing.T, change func(map[string]any)) []byte {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(good), &object); err != nil {
		t.Fatal(err)
	}
	change(object)
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDefaultsAreFilledIn(t *testing.T) {
	s, err := Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	app := s.Streams[0]
	if app.DeadlineS != 1 || app.Arrivals != Constant || app.Retries != "none" ||
		app.Keys.Distribution != Uniform || app.BatchKeys != 10 || s.LingerS != 60 || s.Data.LoadConcurrency != 16 {
		t.Errorf("defaults: %+v", s)
	}
	if s.Loop() != "open" {
		t.Errorf("Loop() = %q", s.Loop())
	}
}

func TestAVerifiedStreamHasItsOwnRegistersAndCounters(t *testing.T) {
	s, err := Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	sets := s.LedgerSets()
	if len(sets) != 2 || sets[0].Counter || !sets[1].Counter || sets[0].Stream != 1 || sets[0].Keys != 5 {
		t.Errorf("LedgerSets() = %+v", sets)
	}
}

func TestOnlyIncrementsNeedNoRegisters(t *testing.T) {
	for mix, wanted := range map[string]int{"increment": 0, "update": 1, "operate": 1, "batch": 1, "read": 1} {
		stream := Stream{Name: "money", Verified: true, LedgerKeys: 5, Mix: map[string]float64{mix: 1}}
		registers := 0
		for _, set := range (&Spec{Streams: []Stream{stream}}).LedgerSets() {
			if !set.Counter {
				registers++
			}
		}
		if registers != wanted {
			t.Errorf("%s: %d sets of registers, wanted %d", mix, registers, wanted)
		}
	}
}

func TestBadInputIsRefusedWithItsReason(t *testing.T) {
	stream := func(object map[string]any, i int) map[string]any {
		return object["streams"].([]any)[i].(map[string]any)
	}
	cases := map[string]struct {
		change func(map[string]any)
		wanted string
	}{
		"unknown field":     {func(o map[string]any) { o["lanecap"] = 3 }, `unknown field "lanecap"`},
		"other schema":      {func(o map[string]any) { o["schema"] = 2 }, "`schema` is 2 (wanted 1)"},
		"unknown driver":    {func(o map[string]any) { o["driver"] = "dbase" }, "wanted one of: fake"},
		"two loops":         {func(o map[string]any) { stream(o, 0)["concurrency"] = 4 }, "wanted exactly one of them"},
		"no loop":           {func(o map[string]any) { stream(o, 0)["rate"] = 0 }, "wanted exactly one of them"},
		"same name":         {func(o map[string]any) { stream(o, 0)["name"] = "money" }, "there twice"},
		"unknown operation": {func(o map[string]any) { stream(o, 0)["mix"] = map[string]any{"scan": 1} }, `"scan"`},
		"empty mix":         {func(o map[string]any) { stream(o, 0)["mix"] = map[string]any{} }, "no operation with a share"},
		"verified insert":   {func(o map[string]any) { stream(o, 1)["mix"] = map[string]any{"insert": 1} }, "cannot insert"},
		"no ledger keys":    {func(o map[string]any) { stream(o, 1)["ledger_keys"] = 0 }, "wanted 1 to"},
		"no batch":          {func(o map[string]any) { stream(o, 0)["batch_keys"] = -1 }, "`batch_keys` is -1 (wanted 1 to"},
		"client of plain data": {func(o map[string]any) {
			stream(o, 0)["client"] = map[string]any{"command": []any{"x"}}
		}, "wanted `verified` and a `mix`"},
		"client without a program": {func(o map[string]any) {
			stream(o, 1)["client"] = map[string]any{}
		}, "`client.command` is empty"},
		"client that increments": {func(o map[string]any) {
			stream(o, 1)["client"], stream(o, 1)["mix"] = map[string]any{"command": []any{"x"}}, map[string]any{"increment": 1}
		}, "wanted read and update"},
		"http of verified data": {func(o map[string]any) {
			stream(o, 1)["http"] = map[string]any{"requests": map[string]any{}}
		}, "wanted a `mix` alone"},
		"http without a request": {func(o map[string]any) {
			stream(o, 0)["http"] = map[string]any{"requests": map[string]any{}}
		}, "wanted one for each operation of `mix`"},
		"bad theta": {func(o map[string]any) {
			stream(o, 0)["keys"] = map[string]any{"distribution": "zipf", "theta": -1}
		}, "`keys.theta` is -1"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(changed(t, test.change))
			if err == nil || !strings.Contains(err.Error(), test.wanted) {
				t.Errorf("got %v, wanted %q", err, test.wanted)
			}
		})
	}
}

func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	_, err := Parse(changed(t, func(o map[string]any) {
		o["dir"], o["writer"], o["namespace"] = "", "", ""
	}))
	var problems Problems
	if !errors.As(err, &problems) || len(problems) != 3 {
		t.Errorf("got %v, wanted three problems", err)
	}
}

const models = `{"schema":1,"dir":"runs/x","writer":"run","driver":"fake","namespace":"n",
 "data":{"load":true,"sets":[{"name":"a","keys":7,"value_bytes":[5,9]},{"name":"b","keys":3,"value_bytes":[8],"fields":2,"compress_to":0.5}]},
 "streams":[
  {"name":"app","set":"b","mix":{"read":1},"rate":5},
  {"name":"votes","vote":{"choices":["y","n"],"counters":3},"rate":5,"verified":true},
  {"name":"players","play":{"profile":"realtime","players":4,"loaded_players":2,"increment_space":"hot","increment_keys":3,"doc_scale":1},"rate":5,"verified":true},
  {"name":"reader","reader":{"of":"players","hot_players":1,"warm_s":1},"rate":5}]}`

func TestSeveralDataSetsFollowOneAnother(t *testing.T) {
	s, err := Parse([]byte(models))
	if err != nil {
		t.Fatal(err)
	}
	if s.Data.Keys != 10 || s.Data.ValueBytes != 9 || s.Data.Layout() == "" {
		t.Errorf("data: %+v", s.Data)
	}
	set, first, ok := s.Data.SetOf("b")
	if !ok || first != 7 || set.Fields != 2 || set.CompressTo != 0.5 {
		t.Errorf("SetOf(b) = %+v, %d, %v", set, first, ok)
	}
	if set, first, _ = s.Data.SetOf(""); first != 0 || set.Size(0) != 5 || set.Size(3) != 9 || set.Fields != 1 {
		t.Errorf("SetOf() = %+v, %d", set, first)
	}
}

func TestAModelHasItsOperationsAndItsOwnLedger(t *testing.T) {
	s, err := Parse([]byte(models))
	if err != nil {
		t.Fatal(err)
	}
	sets := s.LedgerSets()
	if len(sets) != 1 || sets[0].Name != "votes" || sets[0].Keys != 9 || !sets[0].Counter {
		t.Errorf("LedgerSets() = %+v", sets)
	}
	if kinds := s.Streams[2].Kinds(); len(kinds) != 3 {
		t.Errorf("players in real time do %v", kinds)
	}
	if !s.WritesDocuments() || s.Streams[1].Vote.Through != HTTP {
		t.Errorf("votes: %+v", s.Streams[1].Vote)
	}
}

func TestAWrongModelIsRefusedInWords(t *testing.T) {
	for wrong, wanted := range map[string][2]string{
		"a set that is not there":   {`"set":"b"`, `"set":"c"`},
		"no size":                   {`"value_bytes":[5,9]`, `"value_bytes":[]`},
		"more fields than names":    {`"fields":2`, `"fields":101`},
		"no choices":                {`["y","n"]`, `[]`},
		"an unknown profile":        {`"realtime"`, `"fast"`},
		"no player in play":         {`"players":4`, `"players":0`},
		"no player to read":         {`"loaded_players":2`, `"loaded_players":0`},
		"a reader of nothing":       {`"of":"players"`, `"of":"app"`},
		"more totals than counties": {`"increment_keys":3`, `"increment_keys":245`},
	} {
		text := strings.Replace(models, wanted[0], wanted[1], 1)
		var problems Problems
		if _, err := Parse([]byte(text)); !errors.As(err, &problems) {
			t.Errorf("%s is accepted: %v", wrong, err)
		}
	}
}
