package history

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"brownout/loadgen/driver"
	"brownout/loadgen/ledger"
)

const id = "orders:r00000007"

// scripted is a history of one register, written by this text: `w2 1-3` acknowledges write 2 between
// the seconds 1 and 3, `d2 1` leaves it in doubt, `f2 1-3` fails it, `r2 1-3` reads it; `x2 1-3` is a
// write that is refused because 1 is there, `?1 2-3` a read of another writer's record.
func scripted(t *testing.T, script ...string) *History {
	t.Helper()
	h := New("run", []string{id})
	for _, line := range script {
		var kind byte
		var seq uint64
		var from, to int
		if _, err := fmt.Sscanf(strings.Replace(line, "-", " ", 1)+" 0", "%c%d %d %d", &kind, &seq, &from, &to); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		start, end := time.Duration(from)*time.Second, time.Duration(to)*time.Second
		ended := &ledger.Ended{At: end, Lane: "n1", Result: &driver.Result{}}
		switch kind {
		case 'r', '?':
			writer := map[byte]string{'r': "run", '?': "another"}[kind]
			read := &ledger.Read{ID: id, Lane: "n1", Start: start, End: end, Found: &driver.Record{Writer: writer, Seq: seq}}
			if seq == 0 {
				read.Found = nil
			}
			h.Read(read)
			continue
		case 'w':
			ended.Fate = ledger.Acknowledged
		case 'd':
			ended.Fate = ledger.InDoubt
		case 'f':
			ended.Fate = ledger.Failed
		case 'x':
			ended.Fate = ledger.Failed
			ended.Result = &driver.Result{Refused: true, Look: &driver.ReadBack{Record: &driver.Record{Writer: "run", Seq: 1}, ChecksumOK: true}}
		}
		h.Begin(id, seq, start)
		h.End(id, seq, ended)
	}
	return h
}

func checked(h *History) *Checked {
	return h.Check(context.Background(), func(uint64, uint64) {})
}

func TestAHistoryThatAnOrderExplainsIsLinearizable(t *testing.T) {
	for name, script := range map[string][]string{
		"nothing was done":                     {},
		"reads during a write see either":      {"w2 1-5", "r1 2-3", "r2 3-4"},
		"the last write is read":               {"w2 1-2", "r2 3-4", "w3 5-6", "r3 7-8"},
		"a write in doubt takes effect later":  {"d2 1", "r1 2-3", "r2 4-5"},
		"a write in doubt never takes effect":  {"d2 1", "r1 2-3", "w3 4-5", "r3 6-7"},
		"one in doubt comes after another":     {"d2 1", "w3 4-5", "r3 6-7", "r2 8-9"},
		"one in doubt is overwritten":          {"d2 1", "w3 4-5", "r3 6-7"},
		"what failed is not read":              {"f2 1-2", "r1 3-4"},
		"a write is refused and 1 is there":    {"x2 1-2", "r1 3-4"},
		"an answer may be late":                {"w2 1-2", "w3 3-4", "r2 2-9"},
		"reads that overlap see what they may": {"w2 1-9", "r1 2-5", "r2 3-6", "r1 2-4"},
	} {
		t.Run(name, func(t *testing.T) {
			got := checked(scripted(t, script...))
			if got.Broken != 0 || got.Unknown != 0 || got.Registers != 1 {
				t.Fatalf("%+v", got)
			}
		})
	}
}

func TestAHistoryThatNoOrderExplainsIsBrokenByItsFirstSuchOperation(t *testing.T) {
	for name, each := range map[string]struct {
		script []string
		at     int
		what   string
	}{
		"an older state after an acknowledgement":   {[]string{"w2 1-2", "r2 3-4", "r1 5-6", "r2 7-8"}, 6, "read 1"},
		"an older state after a read of a newer":    {[]string{"w2 1-9", "r2 3-4", "r1 5-6"}, 6, "read 1"},
		"it is gone":                                {[]string{"r0 5-6"}, 6, "read nothing"},
		"one in doubt is there, then it is not":     {[]string{"d2 1", "w3 4-5", "r2 6-7", "r3 8-9"}, 9, "read 3"},
		"one in doubt is seen, then not, then seen": {[]string{"d2 1", "r2 2-3", "r1 4-5", "r2 6-7"}, 5, "read 1"},
		"what failed is read":                       {[]string{"f2 1-2", "r2 3-4"}, 4, "read 2"},
		"what was never written is read":            {[]string{"r9 3-4"}, 4, "read 9"},
		"it is read before it was written":          {[]string{"r2 1-2", "w2 3-4"}, 2, "read 2"},
		"a refused write found what was gone":       {[]string{"w2 1-2", "x3 5-6"}, 6, "read 1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := checked(scripted(t, each.script...))
			if got.Broken != 1 || got.Unknown != 0 || len(got.Examples) != 1 {
				t.Fatalf("%+v", got)
			}
			broken := got.Examples[0]
			if broken.ID != id || broken.At != time.Duration(each.at)*time.Second || broken.What != each.what || broken.Lane != "n1" {
				t.Fatalf("%+v", broken)
			}
		})
	}
}

func TestWhatIsNotKnownIsNeitherLinearizableNorBroken(t *testing.T) {
	full := make([]string, most+1)
	for i := range full {
		full[i] = fmt.Sprintf("r1 %d-%d", i, i+1)
	}
	for name, each := range map[string]struct {
		script []string
		why    string
	}{
		"another writer":      {[]string{"w2 1-2", "?7 3-4", "r1 5-6"}, "another writer"},
		"too many operations": {full, "only its first 10000 operations"},
	} {
		t.Run(name, func(t *testing.T) {
			got := checked(scripted(t, each.script...))
			if got.Broken != 0 || got.Unknown != 1 || !strings.Contains(got.Why, each.why) {
				t.Fatalf("%+v", got)
			}
		})
	}
	t.Run("time ran out", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		got := scripted(t, "w2 1-2", "r1 3-4").Check(ctx, func(uint64, uint64) {})
		if got.Broken != 0 || got.Unknown != 1 || got.Why == "" {
			t.Fatalf("%+v", got)
		}
	})
}

func TestABrokenRegisterOfWhichNotAllIsKeptIsBroken(t *testing.T) {
	script := []string{"w2 1-2", "r1 3-4"}
	for i := range most {
		script = append(script, fmt.Sprintf("r2 %d-%d", i+5, i+6))
	}
	if got := checked(scripted(t, script...)); got.Broken != 1 || got.Unknown != 0 {
		t.Fatalf("%+v", got)
	}
}

func TestANewStoredKeyHoldsNothingAtFirst(t *testing.T) {
	h := New("run", nil)
	h.Begin("orders:r00000007.x1", 1, 2*time.Second)
	h.Read(&ledger.Read{ID: "orders:r00000007.x1", Start: 3 * time.Second, End: 4 * time.Second})
	h.Read(&ledger.Read{ID: "of another generator", Start: 3 * time.Second, End: 4 * time.Second})
	if got := checked(h); got.Registers != 1 || got.Broken != 0 {
		t.Fatalf("%+v", got)
	}
}

// random is a history of a real register behind clients with delays; where stale is set, reads
// sometimes come from what was there a while ago.
func random(r *rand.Rand, n int, stale bool) []operation {
	var done []operation
	var points []operation // writes by their moment of effect, in start
	at, seq := time.Duration(0), uint64(1)
	for range n {
		at += time.Duration(1 + r.IntN(10))
		o := operation{write: r.IntN(2) == 0, start: at}
		effect := at + time.Duration(r.IntN(20))
		o.end = effect + time.Duration(r.IntN(20))
		if o.write {
			seq++
			o.seq = seq
			at = o.end // one writer
			switch r.IntN(8) {
			case 0: // in doubt, and never there
				o.end = never
			case 1: // in doubt, and there
				o.end = never
				points = append(points, operation{seq: seq, start: effect})
			default:
				points = append(points, operation{seq: seq, start: effect})
			}
		} else {
			if stale && r.IntN(4) == 0 {
				effect -= time.Duration(r.IntN(60))
			}
			o.start = effect // filled in below
		}
		done = append(done, o)
	}
	for i := range done {
		if o := &done[i]; !o.write {
			effect := o.start
			o.seq = 1
			for _, p := range points {
				if p.start <= effect {
					o.seq = p.seq
				}
			}
			o.start = min(effect, o.end) - time.Duration(r.IntN(10))
			if stale {
				o.start = o.end - time.Duration(r.IntN(10))
			}
		}
	}
	return done
}

func TestWhatIsLeftOutDecidesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	verdicts := map[porcupine.CheckResult]int{}
	for i := range 3000 {
		all := random(r, 2+r.IntN(12), i%2 == 0)
		open := slices.Clone(all)
		for j := range open {
			if open[j].end == never {
				open[j].end = 1 << 40
			}
		}
		// A write that is open may also be left out: every choice is tried.
		wanted := porcupine.Illegal
		var doubts []int
		for j := range all {
			if all[j].end == never {
				doubts = append(doubts, j)
			}
		}
		for chosen := range 1 << len(doubts) {
			try := slices.Clone(open)
			for bit := len(doubts) - 1; bit >= 0; bit-- {
				if chosen&(1<<bit) != 0 {
					try = slices.Delete(try, doubts[bit], doubts[bit]+1)
				}
			}
			if linearizable(1, try, time.Minute) == porcupine.Ok {
				wanted = porcupine.Ok
			}
		}
		if got := linearizable(1, reduced(all, never), time.Minute); got != wanted {
			t.Fatalf("%v, wanted %v: %+v", got, wanted, all)
		}
		verdicts[wanted]++
	}
	if verdicts[porcupine.Ok] < 500 || verdicts[porcupine.Illegal] < 300 {
		t.Fatalf("%v", verdicts)
	}
}

// stalled is a register whose reads all waited for a while and came back in a heap, again and again.
func stalled(broken bool) *register {
	r := &register{initial: 1}
	for i := range most / 100 {
		at := time.Duration(i) * time.Second
		r.add(operation{write: true, seq: uint64(i + 2), start: at, end: at + 500*time.Millisecond})
		for range 99 {
			r.add(operation{seq: uint64(i + 2), start: at + 1, end: at + 900*time.Millisecond})
		}
	}
	if broken {
		r.operations[most-1].seq = 7
	}
	return r
}

func TestManyReadsAtATimeAreCheckedAtOnce(t *testing.T) {
	for _, broken := range []bool{false, true} {
		h := New("run", nil)
		h.registers[id] = stalled(broken)
		got := checked(h)
		if got.Unknown != 0 || (got.Broken == 1) != broken {
			t.Fatalf("%+v", got)
		}
	}
}

func TestADrawingShowsTheOperationThatFitsIntoNoOrder(t *testing.T) {
	script := []string{}
	for i := range 200 {
		script = append(script, fmt.Sprintf("w%d %d-%d", i+2, 4*i, 4*i+1), fmt.Sprintf("r%d %d-%d", i+2, 4*i+2, 4*i+3))
	}
	got := checked(scripted(t, append(script, "r5 900-901", "r201 902-903")...))
	if got.Broken != 1 {
		t.Fatalf("%+v", got)
	}
	var page bytes.Buffer
	if err := got.Examples[0].Draw(&page); err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{`"read 5"`, `"write 5"`, "n1, from 900.0000 to 901.0000 s"} {
		if !strings.Contains(page.String(), wanted) {
			t.Errorf("no %s", wanted)
		}
	}
	if n := strings.Count(page.String(), `"Description"`); n < drawnOperations || n > 2*drawnOperations {
		t.Errorf("%d operations are drawn", n)
	}
	for _, unwanted := range []string{"https://", "src="} {
		if strings.Contains(page.String(), unwanted) {
			t.Errorf("the page needs something else: %s", unwanted)
		}
	}
}

// BenchmarkCheck measures how long it takes to check one register of 10,000 operations, and how much
// memory that takes.
func BenchmarkCheck(b *testing.B) {
	for _, broken := range []bool{false, true} {
		b.Run(map[bool]string{false: "linearizable", true: "broken"}[broken], func(b *testing.B) {
			r := &register{initial: 1}
			for i := range uint64(most / 2) {
				at := time.Duration(i) * time.Second
				r.add(operation{write: true, seq: i + 2, start: at, end: at + 500*time.Millisecond})
				r.add(operation{seq: i + 2, start: at + 600*time.Millisecond, end: at + 700*time.Millisecond})
			}
			if broken {
				r.operations[most-1].seq = 7
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				linearizable(r.initial, reduced(r.operations, never), time.Minute)
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/1e6, "MB/check")
		})
	}
}
