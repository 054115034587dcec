package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/spec"
)

// faulty is a driver with faults of its own.
type faulty struct {
	drivertest.Fake
	loadFails error
	blocks    chan struct{} // Load waits for it, or for the end of its context
}

func (f *faulty) Settings() map[string]any {
	return map[string]any{"uri": "fake://user:hush-hush@host", "pool": 64}
}

func (f *faulty) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	if f.blocks != nil {
		progress(1, data.Total())
		select {
		case <-f.blocks:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.loadFails != nil {
		return f.loadFails
	}
	return f.Fake.Load(ctx, data, progress)
}

// ReadBack reports one key twice, one with an error, and then fails.
func (f *faulty) ReadBack(_ context.Context, _ bool, ids []string, _ bool, each func(driver.ReadBack)) error {
	each(driver.ReadBack{ID: ids[0], Record: &driver.Record{Writer: "w", Seq: 1}, ChecksumOK: true})
	each(driver.ReadBack{ID: ids[0], Missing: true})
	each(driver.ReadBack{ID: ids[1], Err: errors.New("no primary; password hush-hush")})
	each(driver.ReadBack{ID: ids[2], Missing: true})
	return errors.New("the cluster is gone")
}

// talk is a session under test.
type talk struct {
	t      *testing.T
	driver string
	in     *io.PipeWriter
	lines  *bufio.Scanner
	code   chan int
	cancel context.CancelFunc
	dir    string
}

var sessions atomic.Int64

func begin(t *testing.T, d *faulty) *talk {
	t.Helper()
	name := fmt.Sprintf("fake-%d", sessions.Add(1))
	driver.Register(name, func() driver.Driver { return d })
	fromUs, toUs := io.Pipe()
	out, events := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	s := &talk{t: t, driver: name, in: toUs, lines: bufio.NewScanner(out), code: make(chan int, 1), cancel: cancel}
	s.dir = filepath.Join(t.TempDir(), "run")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.code <- Run(ctx, "1.2.3", fromUs, events)
		events.Close()
	}()
	t.Cleanup(func() { // its files are removed next, so they must not be written any more
		cancel()
		out.Close()
		toUs.Close()
		<-ended
	})
	s.lines.Buffer(nil, 1<<20)
	return s
}

func (s *talk) say(format string, arguments ...any) {
	s.t.Helper()
	if _, err := fmt.Fprintf(s.in, format+"\n", arguments...); err != nil {
		s.t.Fatal(err)
	}
}

// hear returns the next event of that name.
func (s *talk) hear(name string) map[string]any {
	s.t.Helper()
	for s.lines.Scan() {
		var e map[string]any
		if err := json.Unmarshal(s.lines.Bytes(), &e); err != nil {
			s.t.Fatal(err)
		}
		if e["event"] == name {
			return e
		}
		if e["event"] == "error" {
			s.t.Fatalf("wanted %s, got %v", name, e)
		}
	}
	s.t.Fatalf("never said %s", name)
	return nil
}

func (s *talk) exit() int {
	go func() { // no writer may be left waiting
		for s.lines.Scan() {
		}
	}()
	return <-s.code
}

func (s *talk) open() {
	s.t.Helper()
	s.say(`{"cmd":"open","spec":{"schema":1,"dir":%q,"seed":1,"writer":"w","driver":%q,"namespace":"n",`+
		`"connection":{"uri":"fake://user:hush-hush@host","password":"hush-hush"},`+
		`"data":{"keys":10,"value_bytes":8,"load":true},"streams":[{"name":"app","mix":{"update":1},`+
		`"rate":200,"verified":true,"ledger_keys":4}]}}`, s.dir, s.driver)
	s.hear("opened")
}

func TestAWholeSession(t *testing.T) {
	s := begin(t, &faulty{})
	if ready := s.hear("ready"); ready["version"] != "1.2.3" {
		t.Errorf("ready: %v", ready)
	}
	s.open()
	s.say(`{"cmd":"load"}`)
	if loaded := s.hear("loaded"); loaded["keys"] != 14.0 {
		t.Errorf("loaded: %v", loaded)
	}
	s.say(`{"cmd":"start"}`)
	s.hear("started")
	s.hear("live")
	s.say(`{"cmd":"stop"}`)
	stopped := s.hear("stopped")
	if stopped["ended"] != true || stopped["ok"] == 0.0 || stopped["failed"] != 0.0 || stopped["identity_violations"] != 0.0 {
		t.Errorf("stopped: %v", stopped)
	}
	s.say(`{"cmd":"verify"}`)
	if verified := s.hear("verified"); verified["keys"] != 4.0 || verified["read"] != 2.0 || verified["unread"] != 2.0 {
		t.Errorf("verified: %v", verified)
	}
	s.say(`{"cmd":"clean"}`)
	s.hear("cleaned")
	s.say(`{"cmd":"exit"}`)
	if ended := s.hear("ended"); ended["code"] != 0.0 {
		t.Errorf("ended: %v", ended)
	}
	if code := s.exit(); code != ExitOK {
		t.Errorf("exit code %d", code)
	}
	s.checkLedger()
}

// checkLedger wants each key read back once, by fault or not, and no secret.
func (s *talk) checkLedger() {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "ledger.ndjson"))
	if err != nil {
		s.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	wanted := []string{
		`{"read":"app:r00000000","stream":"app","seq":1,"writer":"w","checksum_ok":true}`,
		`{"read":"app:r00000001","stream":"app","error":"no primary; password ***"}`,
		`{"read":"app:r00000002","stream":"app","missing":true}`,
		`{"read":"app:r00000003","stream":"app","error":"the cluster is gone"}`,
		`{"record":"k0000000002","missing":true}`,
		`{"data":"data","keys":10,"read":2,"missing":1,"corrupt":0,"unread":8,"sampled":false,"error":"the cluster is gone"}`,
		`{"end":true,"keys":4,"read":2,"sampled":false}`,
	}
	if got := lines[4:]; strings.Join(got, "\n") != strings.Join(wanted, "\n") {
		s.t.Errorf("got\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(wanted, "\n"))
	}
	summary, err := os.ReadFile(filepath.Join(s.dir, "generator.json"))
	if err != nil || strings.Contains(string(summary), "hush") || !strings.Contains(string(summary), "***") {
		s.t.Errorf("generator.json: %s, %v", summary, err)
	}
}

func TestASignalEndsALongLoad(t *testing.T) {
	s := begin(t, &faulty{blocks: make(chan struct{})})
	s.open()
	s.say(`{"cmd":"load"}`)
	s.hear("loading")
	s.cancel()
	if code := s.exit(); code != ExitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestWhoComesLaterIsGreetedWhenAsked(t *testing.T) {
	s := begin(t, &faulty{})
	s.hear("ready")
	s.say(`{"cmd":"hello"}`)
	if ready := s.hear("ready"); ready["version"] != "1.2.3" {
		t.Errorf("ready: %v", ready)
	}
	s.say(`{"cmd":"exit"}`)
	s.hear("ended")
}

func TestTheClockIsToldDuringALongLoad(t *testing.T) {
	d := &faulty{blocks: make(chan struct{})}
	s := begin(t, d)
	s.open()
	s.say(`{"cmd":"load"}`)
	s.hear("loading")
	s.say(`{"cmd":"clock","id":[1]}`)
	if told := s.hear("clock"); told["t"] != nil || fmt.Sprint(told["id"]) != "[1]" {
		t.Errorf("clock: %v", told)
	}
	close(d.blocks)
	s.hear("loaded")
}

func TestTheEndOfTheInputEndsAnIdleGenerator(t *testing.T) {
	s := begin(t, &faulty{})
	s.open()
	s.in.Close()
	if code := s.exit(); code != ExitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestAFailureNamesItsCommandAndHidesSecrets(t *testing.T) {
	s := begin(t, &faulty{loadFails: errors.New(`cannot log in with "hush-hush"`)})
	s.open()
	s.say(`{"cmd":"load"}`)
	for s.lines.Scan() {
		if text := s.lines.Text(); strings.Contains(text, `"error"`) {
			if !strings.Contains(text, `cannot log in with \"***\"`) || !strings.Contains(text, `"where":"load"`) {
				t.Errorf("got %s", text)
			}
			return
		}
	}
}

func TestSecretsAreFoundInEveryForm(t *testing.T) {
	secrets := secretsOf(&spec.Connection{URI: "x://u:p%40ss@h", Password: `a"b c/d`, TLS: driver.TLS{KeyPassphrase: "0pen"}})
	for _, text := range []string{`a"b c/d`, `a\"b c/d`, "a%22b+c%2Fd", "a%22b%20c%2Fd", "p@ss", "p%40ss", "0pen"} {
		if got := secrets.Replace("<" + text + ">"); got != "<***>" {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestAReaderWhoDoesNotReadHoldsNothingUp(t *testing.T) {
	out, events := io.Pipe()
	defer out.Close()
	o := newOutput(events)
	start := time.Now()
	for range 10 * backlog {
		o.offer(named("live", nil))
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("%d events took %v", 10*backlog, took)
	}
}

func TestALoadIsWrittenInStepsAndBegunAtAMomentOfItsOwnClock(t *testing.T) {
	s := begin(t, &faulty{})
	s.open()
	for _, step := range []string{"begin", "fill", "end"} {
		s.say(`{"cmd":"load","step":%q}`, step)
		s.hear("loaded")
	}
	s.say(`{"cmd":"clock","id":1}`)
	up := s.hear("clock")["up"].(float64)
	s.say(`{"cmd":"start","at":%v}`, up+1)
	if late := s.hear("started")["late_s"].(float64); late < 0 {
		t.Errorf("it began %v s before its moment", -late)
	}
	s.say(`{"cmd":"clock","id":2}`)
	now := s.hear("clock")
	if off := now["up"].(float64) - now["t"].(float64) - (up + 1); off < -1e-3 || off > 1e-3 {
		t.Errorf("its schedule counts from %v s after the moment", off)
	}
}

func TestAMomentThatIsPastOrAStepThatIsNoneIsRefused(t *testing.T) {
	s := begin(t, &faulty{})
	s.open()
	s.say(`{"cmd":"load","step":"middle"}`)
	s.refused("wanted begin, fill or end")
	s.say(`{"cmd":"load","step":"begin"}`)
	s.hear("loaded")
	s.say(`{"cmd":"start"}`)
	s.refused("the data set is not loaded")
	s.say(`{"cmd":"load","step":"fill"}`)
	s.hear("loaded")
	for _, at := range []string{"-1", "1000"} {
		s.say(`{"cmd":"start","at":%s}`, at)
		s.refused("wanted 0 to 1m0s")
	}
}

// refused wants the next event to be an error that says so.
func (s *talk) refused(why string) {
	s.t.Helper()
	for s.lines.Scan() {
		line := s.lines.Text()
		if !strings.Contains(line, `"event":"error"`) {
			continue
		}
		if !strings.Contains(line, why) {
			s.t.Errorf("got %s, wanted %q", line, why)
		}
		return
	}
}
