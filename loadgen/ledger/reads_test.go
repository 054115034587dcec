package ledger

import (
	"math/rand/v2"
	"testing"
	"time"

	"brownout/loadgen/driver"
)

const (
	ms     = time.Millisecond
	theKey = "app:r00000000"
)

// written writes the key once, acknowledged at that moment.
func written(s *Set, fate Fate, at time.Duration, lane string, before *int64) {
	if _, ok := s.Acquire(0, at); !ok {
		panic("the key is not free")
	}
	s.Begin(0)
	s.End(0, Ended{Fate: fate, At: at, Lane: lane, Result: &driver.Result{Before: before}})
}

func readOf(s *Set, seq uint64, sent, back time.Duration, lane string) {
	r := &Read{ID: theKey, Lane: lane, Start: sent, End: back}
	if seq > 0 {
		r.Found = &driver.Record{Writer: "run", Seq: seq}
	}
	s.Returned(0, "run", r)
}

func only(t *testing.T, s *Set) Reads {
	t.Helper()
	lanes, _ := s.CheckedReads()
	if len(lanes) != 1 {
		t.Fatalf("%d lanes, wanted one: %+v", len(lanes), lanes)
	}
	return lanes[0]
}

func TestAReadThatMissesAWriteAcknowledgedBeforeItIsStale(t *testing.T) {
	s := registers(1)
	written(s, Acknowledged, 100*ms, "a", nil) // 2
	written(s, Failed, 200*ms, "a", nil)       // 3
	written(s, Acknowledged, 300*ms, "a", nil) // 4
	readOf(s, 1, 1000*ms, 1001*ms, "a")        // misses 2 and 4
	readOf(s, 2, 400*ms, 401*ms, "a")          // misses 4
	readOf(s, 4, 1000*ms, 1001*ms, "a")
	got := only(t, s)
	want := Reads{Lane: "a", Checked: 3, Stale: 2, Missed: 2, Age: 900 * ms, First: 400 * ms, Last: 1000 * ms}
	if got != want {
		t.Errorf("got %+v, wanted %+v", got, want)
	}
}

func TestAReadThatFindsNothingOfALoadedKeyIsStale(t *testing.T) {
	s := registers(1)
	readOf(s, 0, 500*ms, 501*ms, "a")
	if got := only(t, s); got.Stale != 1 || got.Missed != 1 || got.Age != 500*ms {
		t.Errorf("got %+v", got)
	}
}

func TestWhatIsNotCertainIsNotStale(t *testing.T) {
	for name, each := range map[string]func(*Set){
		"a write that was acknowledged after the read was sent": func(s *Set) {
			written(s, Acknowledged, 100*ms, "a", nil)
			readOf(s, 1, 99*ms, 200*ms, "a")
		},
		"a write in doubt that took effect late": func(s *Set) {
			written(s, InDoubt, 100*ms, "a", nil)
			written(s, Acknowledged, 5*time.Second, "a", nil)
			readOf(s, 2, 6*time.Second, 6*time.Second, "a")
		},
		"a write that failed": func(s *Set) {
			written(s, Failed, 100*ms, "a", nil)
			written(s, Acknowledged, 200*ms, "a", nil)
			readOf(s, 2, 300*ms, 300*ms, "a")
		},
		"a record of another writer": func(s *Set) {
			written(s, Acknowledged, 100*ms, "a", nil)
			s.Returned(0, "run", &Read{ID: theKey, Start: 200 * ms, Found: &driver.Record{Writer: "other", Seq: 1}})
		},
		"a stored key that was given up": func(s *Set) {
			written(s, Acknowledged, 100*ms, "a", nil)
			s.Returned(0, "run", &Read{ID: "older", Start: 200 * ms, Found: &driver.Record{Writer: "run", Seq: 1}})
		},
		"a key of another generator": func(s *Set) {
			written(s, Acknowledged, 100*ms, "a", nil)
			s.Own([]uint64{})
			readOf(s, 1, 200*ms, 200*ms, "a")
		},
	} {
		s := registers(1)
		each(s)
		if lanes, _ := s.CheckedReads(); len(lanes) > 0 && lanes[0].Stale > 0 {
			t.Errorf("%s: counted as stale: %+v", name, lanes[0])
		}
	}
}

func TestASessionIsHeldAgainstWhatItsOwnLaneHad(t *testing.T) {
	s := registers(1)
	s.CheckSessions()
	written(s, Acknowledged, 100*ms, "primary", nil) // 2
	readOf(s, 1, 200*ms, 201*ms, "replica")          // stale; the replica never had 2
	readOf(s, 2, 300*ms, 301*ms, "replica")
	readOf(s, 1, 300*ms, 302*ms, "replica") // stale; sent before the replica was known to have 2
	readOf(s, 1, 400*ms, 401*ms, "replica") // it goes back
	readOf(s, 1, 500*ms, 501*ms, "primary") // it has acknowledged 2
	lanes, listed := s.CheckedReads()
	if lanes[0].Lane != "primary" || lanes[0].Stale != 1 || lanes[0].Session != 1 {
		t.Errorf("the primary: %+v", lanes[0])
	}
	if lanes[1].Stale != 3 || lanes[1].Session != 1 {
		t.Errorf("the replica: %+v", lanes[1])
	}
	if len(listed) != 4 || listed[0].At != 200*ms || listed[0].Seq != 1 || listed[0].Acked != 2 {
		t.Errorf("listed: %+v", listed)
	}
}

func TestAReadOfAWriteThatVanishedIsDirty(t *testing.T) {
	one, two := int64(1), int64(2)
	for name, each := range map[string]struct {
		fate   Fate
		before *int64
		dirty  uint64
		left   int
	}{
		"the next write did not find it":         {Acknowledged, &one, 1, 0},
		"the next write found it":                {Acknowledged, &two, 0, 0},
		"what the next write found is not known": {Acknowledged, nil, 0, 0},
		"the next write is in doubt itself":      {InDoubt, nil, 0, 1},
		"the next write failed":                  {Failed, nil, 0, 1},
	} {
		s := registers(1)
		written(s, InDoubt, 100*ms, "a", nil) // 2
		readOf(s, 2, 150*ms, 151*ms, "a")
		written(s, each.fate, 10*time.Second, "a", each.before)
		left := lines(t, s)[0].UnackedReads
		if got := only(t, s); got.Dirty != each.dirty || got.Stale != 0 || len(left) != each.left {
			t.Errorf("%s: %+v, undecided %+v", name, got, left)
		}
	}
}

func TestAReadOfAWriteThatIsAcknowledgedSoonAfterIsClean(t *testing.T) {
	s := registers(1)
	s.Acquire(0, 0)
	s.Begin(0)
	readOf(s, 2, 10*ms, 11*ms, "a")
	s.End(0, Ended{Fate: Acknowledged, At: 12 * ms})
	if left := lines(t, s)[0].UnackedReads; only(t, s).Dirty != 0 || left != nil {
		t.Errorf("%+v, undecided %+v", only(t, s), left)
	}
}

// A register without copies never shows an older state, whatever overlaps.
func TestReadsOfOneRegisterAreNeverCalledStale(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := registers(1)
		s.CheckSessions()
		stored, now := uint64(1), time.Duration(0)
		type pending struct {
			seq  uint64
			sent time.Duration
		}
		var reads []pending
		for range 300 {
			now += time.Duration(random.IntN(2000)) * time.Microsecond
			switch random.IntN(4) {
			case 0: // a write, during which a read may be answered
				s.Acquire(0, now)
				seq, _ := s.Begin(0)
				stored = seq
				reads = append(reads, pending{stored, now})
				now += ms
				s.End(0, Ended{Fate: Acknowledged, At: now, Lane: "a"})
			case 1:
				reads = append(reads, pending{stored, now})
			case 2: // an answer comes late
				if len(reads) > 0 {
					i := random.IntN(len(reads))
					readOf(s, reads[i].seq, reads[i].sent, now, "a")
					reads = append(reads[:i], reads[i+1:]...)
				}
			}
		}
		if got := only(t, s); got.Stale != 0 || got.Dirty != 0 {
			t.Fatalf("counted %+v", got)
		}
	}
}

// A copy that lags by a constant time shows how old it is, and never seems older.
func TestTheAgeOfAStaleReadIsAtMostTheLagOfTheCopy(t *testing.T) {
	for _, every := range []time.Duration{ms, 30 * ms, 400 * ms} {
		const lag = 2 * time.Second
		s := registers(1)
		var writes []ack
		for now := every; now < 20*time.Second; now += every {
			written(s, Acknowledged, now, "a", nil)
			writes = append(writes, ack{uint64(len(writes) + 2), now})
			seq := uint64(1)
			for i := len(writes) - 1; i >= 0; i-- {
				if writes[i].at <= now-lag {
					seq = writes[i].seq
					break
				}
			}
			readOf(s, seq, now, now, "b")
		}
		lanes, _ := s.CheckedReads()
		if got := lanes[0]; got.Stale != uint64(len(writes)) || got.Age > lag || got.Age < lag/2 {
			t.Errorf("a write every %v: %+v", every, got)
		}
		if size := len(s.keys[0].seen.acks); size > mostAcks {
			t.Errorf("%d acknowledgements are remembered", size)
		}
	}
}
