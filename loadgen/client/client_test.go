package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/spec"
)

// behaviour is the variable by which the test's own program is a client, and how that one behaves.
const behaviour = "BROWNOUT_TEST_CLIENT"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviour); how != "" {
		behave(how)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// behave is a client that keeps everything in its memory. Keys that begin with a word do more.
func behave(how string) {
	out := json.NewEncoder(os.Stdout)
	values, sequences := map[string]string{}, map[string]int64{}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r request
		_ = json.Unmarshal(in.Bytes(), &r)
		word, _, _ := strings.Cut(r.Key, ":")
		switch {
		case r.Do == doOpen && how == "refuses":
			_ = out.Encode(map[string]any{"error": "no such table"})
		case r.Do == doOpen && how == "silent":
		case r.Do == doOpen:
			fmt.Println("a line that is no JSON")
			_ = out.Encode(map[string]any{"opened": "memory", "settings": r.Options})
		case r.Do == doClose && how == "leaves":
			left := exec.Command("sleep", "300")
			left.Stdout = os.Stdout
			_ = left.Start()
			return
		case r.Do == doClose:
			return
		case word == "dies":
			os.Exit(1)
		case word == "forgets":
		case word == "fails":
			_ = out.Encode(map[string]any{"id": r.ID, "end": endFailed, "cause": "not-primary", "code": "25006"})
		case word == "doubts":
			_ = out.Encode(map[string]any{"id": r.ID, "end": endInDoubt, "cause": "no such cause", "code": "a,\"b"})
		case word == "numbers":
			_ = out.Encode(map[string]any{"id": r.ID, "end": endFailed, "code": 10107})
		case word == "babbles":
			_ = out.Encode(map[string]any{"id": r.ID, "end": "well"})
		case r.Do == doRead:
			out := map[string]any{"id": r.ID, "end": endOK, "value": nil}
			if value, there := values[r.Key]; there {
				out["value"] = value
			}
			text, _ := json.Marshal(out)
			fmt.Println(string(text))
		default:
			value, there := values[r.Key]
			at, e := sequences[r.Key], r.Expect
			if e != nil && (e.Missing == there || (there && (at < e.First || at > e.Last))) {
				_ = out.Encode(map[string]any{"id": r.ID, "end": endRefused, "value": value})
				continue
			}
			values[r.Key], sequences[r.Key] = r.Value, int64(r.Sequence)
			_ = out.Encode(map[string]any{"id": r.ID, "end": endOK})
		}
	}
}

// opened returns a driver whose second stream is done by such a client, and closes it in the end.
func opened(t *testing.T, how string) (*Driver, error) {
	t.Helper()
	d, err := openedWithin(t.Context(), t, how)
	if err == nil {
		t.Cleanup(d.Close)
	}
	return d, err
}

func openedWithin(ctx context.Context, t *testing.T, how string) (*Driver, error) {
	t.Helper()
	t.Setenv(behaviour, how)
	s := &spec.Spec{Streams: []spec.Stream{
		{Name: "lookups", DeadlineS: 1},
		{Name: "orders", DeadlineS: 2, Verified: true, Client: &spec.Client{
			Command: []string{os.Args[0]}, Options: map[string]any{"pool": 4.0},
		}},
	}}
	d := Wrap(&drivertest.Fake{Doubt: time.Second}, s).(*Driver)
	return d, d.Open(ctx, driver.Config{
		Namespace: "brownout", Writer: "run",
		Streams: []driver.StreamConfig{{Name: "lookups", DeadlineS: 1}, {Name: "orders", DeadlineS: 2}},
	})
}

func memory(t *testing.T) *Driver {
	t.Helper()
	d, err := opened(t, "memory")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func do(t *testing.T, d *Driver, op driver.Op, within time.Duration) driver.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	op.Stream = 1
	return d.Do(ctx, &op)
}

func write(key string, seq uint64, known *driver.Known) driver.Op {
	value := []byte("value of " + key)
	return driver.Op{
		Kind: driver.Update, Verified: true, ID: key, Value: value, Record: driver.NewRecord("run", key, seq, value), Known: known,
	}
}

func TestWhatTheClientWroteIsReadBackWhole(t *testing.T) {
	d := memory(t)
	if got := do(t, d, write("orders:1", 1, nil), time.Minute); got.Class != driver.OK || !got.Found {
		t.Fatalf("%+v", got)
	}
	got := do(t, d, driver.Op{Kind: driver.Read, ID: "orders:1"}, time.Minute)
	if got.Class != driver.OK || !got.Found || got.Record.Seq != 1 {
		t.Errorf("%+v", got)
	}
	if got := do(t, d, driver.Op{Kind: driver.Read, ID: "orders:2"}, time.Minute); got.Class != driver.OK || got.Found {
		t.Errorf("what is not there: %+v", got)
	}
	settings := d.Settings()["clients"].(map[string]any)["orders"].(map[string]any)
	if settings["name"] != "memory" || settings["settings"].(map[string]any)["pool"] != 4.0 {
		t.Errorf("%v", settings)
	}
}

func TestAWriteWhoseConditionDoesNotHoldIsRefusedWithWhatIsThere(t *testing.T) {
	d := memory(t)
	do(t, d, write("orders:1", 5, nil), time.Minute)
	if got := do(t, d, write("orders:1", 6, &driver.Known{First: 4, Last: 5}), time.Minute); got.Class != driver.OK {
		t.Errorf("it holds: %+v", got)
	}
	got := do(t, d, write("orders:1", 7, &driver.Known{First: 5, Last: 5}), time.Minute)
	if !got.Refused || got.Look == nil || got.Look.Record.Seq != 6 {
		t.Errorf("%+v, %+v", got, got.Look)
	}
	if got := do(t, d, write("orders:1", 7, &driver.Known{Create: true}), time.Minute); !got.Refused {
		t.Errorf("it is there: %+v", got)
	}
}

func TestAClientWithoutConditionalWritesIsNotAskedForAny(t *testing.T) {
	d := memory(t)
	d.streams[1].spec.Client.WriteOnce = true
	do(t, d, write("orders:1", 5, nil), time.Minute)
	if got := do(t, d, write("orders:1", 7, &driver.Known{Create: true}), time.Minute); got.Class != driver.OK {
		t.Errorf("it expects nothing: %+v", got)
	}
}

func TestTheClientSaysHowAnOperationEnded(t *testing.T) {
	d := memory(t)
	if got := do(t, d, write("fails:1", 1, nil), time.Minute); got.Class != driver.Failed || got.Cause != driver.CauseNotPrimary || got.Code != "25006" {
		t.Errorf("%+v", got)
	}
	if got := do(t, d, write("doubts:1", 1, nil), time.Minute); got.Class != driver.InDoubt || got.Cause != driver.CauseOther || got.Code != "a  b" {
		t.Errorf("%+v", got)
	}
	if got := do(t, d, write("numbers:1", 1, nil), time.Minute); got.Class != driver.Failed || got.Code != "10107" {
		t.Errorf("a code may be a number: %+v", got)
	}
	if got := do(t, d, driver.Op{Kind: driver.Read, ID: "doubts:1"}, time.Minute); got.Class != driver.Failed {
		t.Errorf("a read is never in doubt: %+v", got)
	}
	if got := do(t, d, write("babbles:1", 1, nil), time.Minute); got.Class != driver.InDoubt || got.Code != "not an end" {
		t.Errorf("%+v", got)
	}
}

func TestAnAnswerThatDoesNotComeLeavesAWriteInDoubtAtItsDeadline(t *testing.T) {
	d := memory(t)
	if got := do(t, d, write("forgets:1", 1, nil), 50*time.Millisecond); got.Class != driver.InDoubt || got.Cause != driver.CauseTotalTimeout {
		t.Errorf("%+v", got)
	}
	if got := do(t, d, driver.Op{Kind: driver.Read, ID: "forgets:1"}, 50*time.Millisecond); got.Class != driver.Failed {
		t.Errorf("%+v", got)
	}
}

func TestAClientThatDiesIsStartedAgain(t *testing.T) {
	d := memory(t)
	if got := do(t, d, write("dies:1", 1, nil), time.Minute); got.Class != driver.InDoubt || got.Code != "client ended" {
		t.Errorf("%+v", got)
	}
	sawDown := false
	drivertest.Until(t, "it serves again", func() bool {
		got := do(t, d, write("orders:1", 1, nil), time.Minute)
		sawDown = sawDown || (got.Class == driver.Failed && got.Cause == driver.CauseConnectRefused && !got.Sent)
		return got.Class == driver.OK
	})
	if !sawDown {
		t.Error("no operation failed while it was down")
	}
}

func TestTheKeysOfItsStreamAreLoadedAndReadBackByTheClient(t *testing.T) {
	d := memory(t)
	data := drivertest.DatasetOf("run")
	data.Ledger = []driver.LedgerSet{{Stream: 0, Name: "lookups", Keys: 7}, {Stream: 1, Name: "orders", Keys: 30}}
	var last [2]uint64
	if err := d.Load(t.Context(), data, func(done, total uint64) { last = [2]uint64{done, total} }); err != nil {
		t.Fatal(err)
	}
	if last != [2]uint64{data.Total(), data.Total()} {
		t.Errorf("progress ended at %v of %d", last, data.Total())
	}
	if loaded := d.Driver.(*drivertest.Fake).Loaded.Load(); loaded != data.Keys+7 {
		t.Errorf("the driver loaded %d, wanted %d", loaded, data.Keys+7)
	}
	ids := []string{driver.LedgerID("orders", false, 3), driver.LedgerID("orders", false, 99), driver.LedgerID("lookups", false, 1)}
	var mu sync.Mutex
	backs := map[string]driver.ReadBack{}
	err := d.ReadBack(t.Context(), true, ids, false, func(back driver.ReadBack) {
		mu.Lock()
		defer mu.Unlock()
		backs[back.ID] = back
	})
	if err != nil || len(backs) != 3 {
		t.Fatalf("%v, %v", backs, err)
	}
	if back := backs[ids[0]]; back.Missing || !back.ChecksumOK || back.Record.Seq != 1 {
		t.Errorf("%+v", back)
	}
	if !backs[ids[1]].Missing {
		t.Errorf("%+v", backs[ids[1]])
	}
}

func TestAClientThatCannotBeUsedIsSaidBeforeTheLoad(t *testing.T) {
	if _, err := opened(t, "refuses"); err == nil || !strings.Contains(err.Error(), `stream "orders"`) ||
		!strings.Contains(err.Error(), "no such table") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := openedWithin(ctx, t, "silent"); err == nil || !strings.Contains(err.Error(), "did not answer `open` in time") {
		t.Errorf("got %v", err)
	}
	d := Wrap(&drivertest.Fake{}, &spec.Spec{Streams: []spec.Stream{{Client: &spec.Client{Command: []string{"/no/such"}}}}})
	if err := d.Open(t.Context(), driver.Config{}); err == nil || !strings.Contains(err.Error(), "/no/such") {
		t.Errorf("got %v", err)
	}
}

func TestTheDeadlineOfAClientIsNotThatOfTheDriver(t *testing.T) {
	d := memory(t)
	if d.InDoubtOf(0) != time.Second || d.InDoubtOf(1) != 2*time.Second || d.InDoubtFor() != 2*time.Second {
		t.Errorf("got %v, %v and %v", d.InDoubtOf(0), d.InDoubtOf(1), d.InDoubtFor())
	}
	given := d.Driver.(*drivertest.Fake).Opened.Streams
	if len(given) != 2 || given[0].DeadlineS != 1 || given[1].DeadlineS != 0 {
		t.Errorf("the driver was opened with %+v", given)
	}
}

func TestAClientWithoutOptionsIsSentAnEmptyObject(t *testing.T) {
	t.Setenv(behaviour, "memory") // its settings are the options that it was sent
	d := Wrap(&drivertest.Fake{}, &spec.Spec{Streams: []spec.Stream{
		{Name: "orders", Client: &spec.Client{Command: []string{os.Args[0]}}},
	}}).(*Driver)
	if err := d.Open(t.Context(), driver.Config{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	if got := d.streams[0].process.opened.Settings; got == nil || len(got) > 0 {
		t.Errorf("got the options %v, wanted an empty object", got)
	}
}

// isClosed closes a driver; a hang ends the test.
func isClosed(t *testing.T, d *Driver) {
	t.Helper()
	closed := make(chan struct{})
	go func() { d.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Fatal("it still waits for a client")
	}
}

func TestWhatAClientStartedAndLeftRunningEndsWithIt(t *testing.T) {
	d, err := openedWithin(t.Context(), t, "leaves")
	if err != nil {
		t.Fatal(err)
	}
	isClosed(t, d)
}

func TestAClientThatIsStartedAgainDoesNotHoldUpTheEnd(t *testing.T) {
	d, err := openedWithin(t.Context(), t, "memory")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(behaviour, "silent") // the next one never opens
	do(t, d, write("dies:1", 1, nil), time.Minute)
	drivertest.Until(t, "it is down", func() bool { return !do(t, d, write("orders:1", 1, nil), time.Minute).Sent })
	time.Sleep(restartPause + 300*time.Millisecond)
	isClosed(t, d)
}

func TestARequestSaysHowLongItHasWhenItIsSentAndIsNotSentAfterItsDeadline(t *testing.T) {
	if line := (outgoing{request{Do: doRead, ID: 7}, time.Now().Add(-time.Millisecond)}).line(); line != nil {
		t.Errorf("got %s", line)
	}
	var sent request
	line := outgoing{request{Do: doRead, ID: 7}, time.Now().Add(time.Hour)}.line()
	if err := json.Unmarshal(line, &sent); err != nil || sent.DeadlineMS > 3_600_000 || sent.DeadlineMS < 3_000_000 {
		t.Errorf("%s, %v", line, err)
	}
	if line := (outgoing{request: request{Do: doClose}}).line(); !strings.Contains(string(line), "close") {
		t.Errorf("without a deadline: %q", line)
	}
}

func TestASpecificationWithoutClientsLeavesTheDriverAsItIs(t *testing.T) {
	fake := &drivertest.Fake{}
	if Wrap(fake, &spec.Spec{Streams: []spec.Stream{{Name: "a"}}}) != driver.Driver(fake) {
		t.Error("it is wrapped")
	}
}
