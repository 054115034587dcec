package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/spec"
)

// replicas is a database of some servers, each with a copy of all records; odd says what is
// otherwise, by server and id, and for how many reads.
type replicas struct {
	drivertest.Fake
	servers []string
	odd     map[string]map[string]driver.ReadBack
	lasting int // how many reads of a server see what is odd
	has     func(server, id string) bool
	away    string // the server that does not answer
	after   int    // how many reads it answers before that
}

type replica struct {
	of    *replicas
	name  string
	reads int
}

func (r *replicas) Copies(context.Context) (all []driver.Copy, err error) {
	for _, name := range r.servers {
		all = append(all, &replica{of: r, name: name})
	}
	return all, nil
}

func (r *replica) Server() string { return r.name }
func (r *replica) Close()         {}

func (r *replica) Read(_ context.Context, _ bool, ids []string, counter bool, each func(driver.ReadBack)) error {
	r.reads++
	if r.name == r.of.away && r.reads > r.of.after {
		return errors.New("connection refused")
	}
	for _, id := range ids {
		if r.of.has != nil && !r.of.has(r.name, id) {
			continue
		}
		back := driver.ReadBack{Record: &driver.Record{Writer: "run", Seq: 1}, Value: 7, ChecksumOK: true}
		if odd, is := r.of.odd[r.name][id]; is && r.reads <= r.of.lasting {
			back = odd
		}
		back.ID = id
		each(back)
	}
	return nil
}

// comparedBy compares the copies of a data set of 1,000 records and of the keys of a ledger, in a bubble.
func comparedBy(t *testing.T, database *replicas) (result *ComparedCopies, keys map[string]map[string]string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := New(oneStream(func(s *spec.Stream) { s.Verified = true }), database, nil)
		keys = map[string]map[string]string{}
		var err error
		result, err = e.CompareCopies(t.Context(), func(uint64, uint64) {}, func(key *DivergedKey) error {
			keys[key.Diverged] = key.Copies
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	return result, keys
}

const for1000Reads = 1000

func TestCopiesThatAreAlikeAreCounted(t *testing.T) {
	result, keys := comparedBy(t, &replicas{servers: []string{"b", "a"}})
	if result.Compared != result.Keys || result.Keys != 1000 || result.Diverged != 0 || len(keys) != 0 {
		t.Errorf("got %+v, %v", result, keys)
	}
	if !slices.Equal(result.Servers, []string{"a", "b"}) {
		t.Errorf("servers: %v", result.Servers)
	}
}

func TestACopyThatStaysOtherThanTheOthersIsFoundByItsKeyAndServer(t *testing.T) {
	garbled := driver.ReadBack{Record: &driver.Record{Writer: "run", Seq: 1}}
	result, keys := comparedBy(t, &replicas{
		servers: []string{"a", "b", "c"}, lasting: for1000Reads,
		odd: map[string]map[string]driver.ReadBack{
			"b": {driver.DataID(3): {Missing: true}}, "c": {driver.DataID(9): garbled},
		},
	})
	if result.Diverged != 2 || result.Compared != result.Keys {
		t.Errorf("got %+v", result)
	}
	if of := keys[driver.DataID(3)]; of["b"] != "missing" || of["a"] != of["c"] {
		t.Errorf("the missing one: %v", of)
	}
	if of := keys[driver.DataID(9)]; of["c"] != "sequence 1 of run, fails its checksum" {
		t.Errorf("the garbled one: %v", of)
	}
}

func TestAReplicaThatCatchesUpHasNotDiverged(t *testing.T) {
	result, keys := comparedBy(t, &replicas{
		servers: []string{"a", "b"}, lasting: 20,
		odd: map[string]map[string]driver.ReadBack{"b": {driver.DataID(3): {Missing: true}}},
	})
	if result.Diverged != 0 || len(keys) != 0 {
		t.Errorf("got %+v, %v", result, keys)
	}
}

func TestAServerWithoutAnAnswerLeavesItsKeysUnreadAndHidesNoDifferenceOfOthers(t *testing.T) {
	result, keys := comparedBy(t, &replicas{
		servers: []string{"a", "b", "c"}, lasting: for1000Reads, away: "c",
		odd: map[string]map[string]driver.ReadBack{"b": {driver.DataID(3): {Missing: true}}},
	})
	if result.Unread != result.Keys || result.Compared != 0 || result.Error != "c: connection refused" {
		t.Errorf("got %+v", result)
	}
	if result.Diverged != 1 || len(keys) != 1 {
		t.Errorf("got %+v, %v", result, keys)
	}
}

func TestAServerThatStopsAnsweringWhileItCatchesUpLeavesItsKeysUnreadAndNotDiverged(t *testing.T) {
	result, keys := comparedBy(t, &replicas{
		servers: []string{"a", "b"}, lasting: for1000Reads, away: "b", after: 2,
		odd: map[string]map[string]driver.ReadBack{"b": {driver.DataID(3): {Missing: true}}},
	})
	if result.Diverged != 0 || len(keys) != 0 || result.Unread != 1 || result.Compared != result.Keys-1 {
		t.Errorf("got %+v, %v", result, keys)
	}
}

func TestAServerThatStopsAnsweringHidesNoDifferenceOfTheOthers(t *testing.T) {
	result, keys := comparedBy(t, &replicas{
		servers: []string{"a", "b", "c"}, lasting: for1000Reads, away: "c", after: 2,
		odd: map[string]map[string]driver.ReadBack{"b": {driver.DataID(3): {Missing: true}}},
	})
	if result.Diverged != 1 || len(keys[driver.DataID(3)]) != 2 || result.Unread != 1 {
		t.Errorf("got %+v, %v", result, keys)
	}
}

func TestARecordWithOneCopyIsCountedApart(t *testing.T) {
	result, _ := comparedBy(t, &replicas{
		servers: []string{"a", "b"},
		has:     func(server, id string) bool { return server == "a" || id != driver.DataID(3) },
	})
	if result.Alone != 1 || result.Compared != result.Keys-1 || result.Diverged != 0 {
		t.Errorf("got %+v", result)
	}
}

func TestOfManyKeysThatDifferSomeAreListedAndAllAreCounted(t *testing.T) {
	odd := map[string]driver.ReadBack{}
	for key := range uint64(50) {
		odd[driver.DataID(key)] = driver.ReadBack{Missing: true}
	}
	result, keys := comparedBy(t, &replicas{
		servers: []string{"a", "b"}, lasting: for1000Reads, odd: map[string]map[string]driver.ReadBack{"a": odd},
	})
	if result.Diverged != 50 || len(keys) != listedKeys {
		t.Errorf("got %+v, %d listed", result, len(keys))
	}
}
