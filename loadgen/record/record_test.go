package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"brownout/loadgen/driver"
	"brownout/loadgen/engine/account"
)

var slots = []account.Slot{{Stream: "app", Op: driver.Read}}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRowsAreWrittenAsTheirHeadersSay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "run")
	d, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	counts := account.Counts{Offered: 21, Ends: [account.Ends]uint64{1, 2, 3, 4, 5, 6}}
	report := &account.Report{
		Slots: slots, Lanes: []string{"n1:27017", `odd,"name"`},
		Batch: account.Batch{
			Series:   []account.Row{{Bucket: 123, Counts: counts, Retried: 7, Pending: 8, MaxUS: 9}},
			Outcomes: []account.Row{{Bucket: 5, Counts: counts}},
			Errors:   []account.ErrorRow{{Bucket: 10, Cause: driver.CauseOther, Code: "a,b", N: 2}},
			Lanes:    []account.LaneRow{{Bucket: 1, Lane: 1, Write: true, Offered: 3, Ok: 1, Bad: 1, Pending: 1}},
		},
		Self: []account.Self{{At: 2 * time.Second, LagP99: 150 * time.Microsecond, CPU: time.Second, RSS: 5e6, Goroutines: 4}},
	}
	if err := d.Take(report); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"series.csv":    seriesHeader + "12.3,app,read,21,1,2,3,4,5,6,7,8,9\n",
		"outcomes.csv":  outcomesHeader + "0.5,app,read,21,1,2,3,4,5,6\n",
		"errors.csv":    errorsHeader + "1.0,app,read,other,\"a,b\",2\n",
		"lanes.csv":     lanesHeader + "0.1,\"odd,\"\"name\"\"\",write,3,1,1,1\n",
		"generator.csv": selfHeader + "2.0,0.150,0.000,0.000,1.000,5.000,4\n",
	} {
		if got := read(t, dir, name); got != want {
			t.Errorf("%s: got %q, wanted %q", name, got, want)
		}
	}
}

func TestARunIsNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	first, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, err = Create(dir)
	var wanted *Error
	if !errors.As(err, &wanted) || !strings.Contains(err.Error(), "series.csv") {
		t.Errorf("got %v", err)
	}
}

func TestGosOwnReaderReadsTheLatencyLog(t *testing.T) {
	dir := t.TempDir()
	d, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	t0 := time.UnixMilli(1_700_000_000_250)
	if err := d.Begin(t0); err != nil {
		t.Fatal(err)
	}
	times := hdr.New(1, 3_600_000_000, 3)
	for _, us := range []int64{500, 1500, 5_000_000} {
		if err := times.RecordValue(us); err != nil {
			t.Fatal(err)
		}
	}
	interval := &account.Interval{
		Start: 3 * time.Second, Length: time.Second,
		Slots: []account.SlotTimes{{Response: times, Failed: hdr.New(1, 10, 3)}},
	}
	if err := d.Take(&account.Report{Slots: slots, Intervals: []*account.Interval{interval}}); err != nil {
		t.Fatal(err)
	}
	reader := hdr.NewHistogramLogReader(bytes.NewBufferString(read(t, dir, "latency.hlog")))
	got, err := reader.NextIntervalHistogram()
	if err != nil || got == nil {
		t.Fatalf("no histogram: %v", err)
	}
	if got.Tag() != "app/read" || !got.Equals(times) || got.StartTimeMs() != t0.UnixMilli()+3000 {
		t.Errorf("tag %q, start %d, %d values", got.Tag(), got.StartTimeMs(), got.TotalCount())
	}
	if next, _ := reader.NextIntervalHistogram(); next != nil {
		t.Errorf("an empty histogram was written: %v", next.Tag())
	}
}

func TestAFullDiskLeavesWholeLines(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	f := &file{handle: full, lines: []byte("a line\n")}
	var wanted *Error
	if err := f.flush(); !errors.As(err, &wanted) {
		t.Errorf("got %v, wanted an error of the run directory", err)
	}
	if string(f.lines) != "a line\n" {
		t.Errorf("the unwritten lines are gone: %q", f.lines)
	}
}

func TestTheSummaryIsReplacedInOneStep(t *testing.T) {
	dir := t.TempDir()
	d := &Directory{path: dir}
	summary := NewSummary("1", time.Unix(0, 0))
	for _, ended := range []bool{false, true} {
		summary.Ended = ended
		if err := d.WriteSummary(&summary); err != nil {
			t.Fatal(err)
		}
	}
	if text := read(t, dir, "generator.json"); !strings.Contains(text, `"ended": true`) {
		t.Errorf("got %s", text)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
