package ledger

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/quick"
	"time"

	"brownout/loadgen/driver"
)

const lock = 2 * time.Second

func registers(n uint64) *Set {
	return NewSet(driver.LedgerSet{Stream: 0, Name: "app", Keys: n}, lock)
}

func lines(t *testing.T, s *Set) (all []*Line) {
	t.Helper()
	if err := s.Lines("run", func(l *Line) error { all = append(all, l); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func write(s *Set, key uint64, fates ...Fate) {
	now := time.Duration(0)
	for _, fate := range fates {
		now += 2 * lock
		taken, ok := s.Acquire(key, now)
		if !ok || taken != key {
			panic("the key is not free")
		}
		s.Begin(key)
		s.End(key, Ended{Fate: fate, At: now})
	}
}

func TestALedgerKeepsEachFate(t *testing.T) {
	s := registers(1)
	write(s, 0, Acknowledged, Failed, Failed, InDoubt, Acknowledged, InDoubt)
	want := &Line{
		Key: "app:r00000000", Stream: "app", Kind: "register", Writer: "run",
		Acked: 6, AckedN: 3, InDoubt: [][2]uint64{{5, 5}, {7, 7}}, Failed: [][2]uint64{{3, 4}},
		InDoubtN: 2, FailedN: 2, Loaded: true, Known: &[2]uint64{6, 7},
	}
	if got := lines(t, s)[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, wanted %+v", got, want)
	}
}

func TestWhereAStoredKeyIsWrittenOnceEachWriteIsReadBackByItself(t *testing.T) {
	s := registers(1)
	s.Once, s.Run = true, "x."
	write(s, 0, Acknowledged, Failed, InDoubt, Acknowledged)
	if read, written := s.ID(0), s.WriteID(0); read != "app:r00000000.x.4" || written != read {
		t.Errorf("the last write is read at %q and stored at %q", read, written)
	}
	promised := map[string]uint64{}
	for _, l := range lines(t, s) {
		promised[l.Key] = 100*l.AckedN + 10*l.InDoubtN + l.FailedN
	}
	want := map[string]uint64{
		"app:r00000000": 100, "app:r00000000.x.1": 100, "app:r00000000.x.2": 1, "app:r00000000.x.3": 10, "app:r00000000.x.4": 100,
	}
	if !reflect.DeepEqual(promised, want) {
		t.Errorf("got %v, wanted %v", promised, want)
	}
	if got := slices.Sorted(slices.Values(s.IDs())); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("read back are %v", got)
	}
	key, ok := s.Acquire(0, 0)
	if !ok || s.WriteID(key) != "app:r00000000.x.5" || s.ID(key) != "app:r00000000.x.4" {
		t.Errorf("the next write is stored at %q, and %q is read until then", s.WriteID(key), s.ID(key))
	}
}

func TestAKeyIsNotWrittenWhileAWriteInDoubtMayTakeEffect(t *testing.T) {
	for name, ended := range map[string]Ended{
		"in doubt":                          {Fate: InDoubt},
		"acknowledged after an attempt was": {Fate: Acknowledged, Doubtful: true},
	} {
		s := registers(1)
		s.Acquire(0, 0)
		s.Begin(0)
		s.End(0, ended)
		if _, ok := s.Acquire(0, lock-1); ok {
			t.Errorf("%s: the key is written again though the write may still take effect", name)
		}
		if _, ok := s.Acquire(0, lock); !ok {
			t.Errorf("%s: the key is not free when the write cannot take effect any more", name)
		}
	}
}

func TestARecordThatIsNotWhatItsWriterKnowsIsLeftAndNamed(t *testing.T) {
	for seq, found := range map[uint64]string{2: "older", 3: "", 4: "newer"} {
		s := registers(1)
		write(s, 0, Acknowledged, Acknowledged) // the load wrote 1
		s.Acquire(0, 100*lock)
		s.Begin(0)
		look := &driver.ReadBack{ChecksumOK: true, Record: &driver.Record{Seq: seq}}
		left := s.Leave(0, Ended{Fate: Failed, Result: &driver.Result{Refused: true, Look: look}})
		switch {
		case left != (found != ""):
			t.Errorf("sequence %d instead of 3: the stored key is left: %t", seq, left)
		case left && s.gone[0].refusal.Found != found:
			t.Errorf("sequence %d instead of 3 is called %s, wanted %s", seq, s.gone[0].refusal.Found, found)
		}
	}
}

// documents are those that are there.
type documents map[any]bool

func (d documents) Have(_ context.Context, keys []driver.DocumentKey) (have []bool, err error) {
	for _, key := range keys {
		have = append(have, d[key.ID])
	}
	return have, nil
}

func (d documents) Count(context.Context, driver.DocumentKey, string) (int64, bool, error) {
	return 0, false, nil
}

func (d documents) Close() {}

func TestAnInsertThatIsGoneIsNotMadeUpForByOneInDoubt(t *testing.T) {
	roll := &Roll{
		Key:   func(_ uint64, number int) driver.DocumentKey { return driver.DocumentKey{ID: strconv.Itoa(number)} },
		Label: func(uint64) string { return "votes" },
	}
	roll.Book(1, 0, Acknowledged)
	roll.Book(1, 1, Acknowledged)
	roll.Book(1, 2, InDoubt)
	for want, there := range map[int64]documents{
		1: {"0": true, "2": true},
		2: {"0": true, "1": true},
		3: {"0": true, "1": true, "2": true},
	} {
		if back := roll.Find(t.Context(), there, 0); back.Value != want {
			t.Errorf("%d found of %v, wanted %d", back.Value, there, want)
		}
	}
}

func TestAnUntouchedKeyHasOnlyItsLoad(t *testing.T) {
	text, err := json.Marshal(lines(t, registers(1))[0])
	want := `{"key":"app:r00000000","stream":"app","kind":"register","writer":"run",` +
		`"acked":1,"acked_n":1,"in_doubt":[],"failed":[],"in_doubt_n":0,"failed_n":0,"loaded":true,"known":[1,1]}`
	if err != nil || string(text) != want {
		t.Errorf("got %s, wanted %s", text, want)
	}
}

func TestCountersCountFromZero(t *testing.T) {
	s := NewSet(driver.LedgerSet{Name: "app", Keys: 1, Counter: true}, lock)
	write(s, 0, Acknowledged, Acknowledged, InDoubt, Failed)
	got := lines(t, s)[0]
	if got.Kind != "counter" || got.Acked != 2 || got.InDoubtN != 1 || got.FailedN != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestAKeyHasOneWriterAtATime(t *testing.T) {
	s := registers(3)
	for _, want := range []uint64{1, 2, 0} {
		if key, ok := s.Acquire(1, 0); !ok || key != want {
			t.Errorf("Acquire(1) = %d, %v, wanted %d", key, ok, want)
		}
	}
	if key, ok := s.Acquire(1, 0); ok {
		t.Errorf("all keys are busy, but %d was given out", key)
	}
	s.Release(2)
	if key, ok := s.Acquire(0, 0); !ok || key != 2 {
		t.Errorf("Acquire(0) = %d, %v after key 2 was released", key, ok)
	}
}

func TestAWriteInDoubtLocksItsKeyForAWhile(t *testing.T) {
	for name, fate := range map[string]Fate{"in doubt": InDoubt, "acknowledged at the second attempt": Acknowledged} {
		s := registers(1)
		s.Acquire(0, 0)
		s.Begin(0)
		s.End(0, Ended{Fate: fate, Doubtful: true, At: time.Second})
		if _, ok := s.Acquire(0, time.Second+lock-1); ok {
			t.Errorf("%s: the key was given out before the write was history", name)
		}
		if _, ok := s.Acquire(0, time.Second+lock); !ok {
			t.Errorf("%s: the key stayed locked", name)
		}
	}
}

func TestAWriteThatNeverEndedIsInDoubt(t *testing.T) {
	s := registers(1)
	s.Acquire(0, 0)
	s.Begin(0)
	if got := lines(t, s)[0]; got.InDoubtN != 1 || got.InDoubt[0] != [2]uint64{2, 2} {
		t.Errorf("got %+v", got)
	}
}

func TestRangesAreBoundedAndCoverEverySequence(t *testing.T) {
	property := func(steps []uint8) bool {
		var r ranges
		var added []uint64
		seq := uint64(1)
		for _, step := range append(steps, make([]uint8, 300)...) {
			seq += uint64(step%5) + 1
			added = append(added, seq)
			r, _ = r.add(seq)
		}
		for _, seq := range added {
			if !covered(r, seq) {
				return false
			}
		}
		return len(r) <= MaxRanges
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func covered(r ranges, seq uint64) bool {
	for _, span := range r {
		if span[0] <= seq && seq <= span[1] {
			return true
		}
	}
	return false
}

func TestALongOutageKeepsTheLedgerSmall(t *testing.T) {
	s := registers(1)
	fates := make([]Fate, 0, 20_000)
	for range 10_000 {
		fates = append(fates, InDoubt, Failed)
	}
	write(s, 0, fates...)
	k := s.keys[0]
	if len(k.inDoubt) > MaxRanges || len(k.failed) > MaxRanges || !k.coarse || cap(s.doubts) > 64 {
		t.Errorf("%d and %d ranges, coarse %v, %d locks", len(k.inDoubt), len(k.failed), k.coarse, cap(s.doubts))
	}
}

func TestConcurrentWritersNeverShareAKey(t *testing.T) {
	s := registers(8)
	var group sync.WaitGroup
	var held [8]sync.Mutex
	for worker := range 4 {
		group.Go(func() {
			for i := range 5000 {
				key, ok := s.Acquire(uint64(i+worker)%8, 0)
				if !ok {
					continue
				}
				if !held[key].TryLock() {
					t.Errorf("key %d has two writers", key)
					return
				}
				s.Begin(key)
				held[key].Unlock()
				s.End(key, Ended{Fate: Acknowledged})
			}
		})
	}
	group.Wait()
	if s.nfree != 8 {
		t.Errorf("%d keys are free at the end, wanted 8", s.nfree)
	}
}

func TestAGeneratorWritesPromisesAndReadsOnlyItsOwnKeys(t *testing.T) {
	s := registers(200)
	s.Own([]uint64{130, 7})
	write(s, 7, Acknowledged)
	if taken, ok := s.Acquire(8, 0); !ok || taken != 130 {
		t.Errorf("Acquire(8) = %d, %v, wanted its next own one", taken, ok)
	}
	s.Acquire(0, 0)
	if _, ok := s.Acquire(0, 0); ok {
		t.Error("it took a key of another generator")
	}
	got := lines(t, s)
	if len(got) != 2 || got[0].Key != "app:r00000007" || got[0].Acked != 2 || got[1].Key != "app:r00000130" {
		t.Errorf("it promised %+v", got)
	}
	if ids := s.IDs(); len(ids) != 2 || ids[1] != "app:r00000130" {
		t.Errorf("it reads %v", ids)
	}
}

func TestCountersOfAllAreReadByOneEach(t *testing.T) {
	s := NewSet(driver.LedgerSet{Name: "votes", Keys: 3, Counter: true}, lock)
	s.Share()
	s.ReadShare(driver.Share{Index: 1, Of: 2})
	s.Tally(2, Acknowledged)
	if ids := s.IDs(); len(ids) != 1 || ids[0] != "votes:c00000001" || len(lines(t, s)) != 3 {
		t.Errorf("it reads %v, of %d promises", ids, len(lines(t, s)))
	}
}
