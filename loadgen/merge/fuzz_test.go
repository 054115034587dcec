package merge

import (
	"os"
	"path/filepath"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// run makes a run of two parts, of which each has the files.
func parts(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, text []byte) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("parts.json", []byte(`{"of":2,"parts":[{"index":0},{"index":1}]}`))
	for name, text := range files {
		write("parts/0/"+name, text)
		write("parts/1/"+name, text)
	}
	return dir
}

const whole = "t,stream,op,offered,ok,late,failed,in_doubt,shed,missed,retried,pending,max_us\n" +
	"0.0,app,read,1,1,0,0,0,0,0,0,0,7\n0.1,app,read,2,2,0,0,0,0,0,0,0,9\n"

func TestBucketsAreAddedAndTheLongestKept(t *testing.T) {
	dir := parts(t, map[string][]byte{"series.csv": []byte(whole + "0.2,app,re")})
	if err := Load(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "series.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if wanted := whole[:79] + "0.0,app,read,2,2,0,0,0,0,0,0,0,7\n0.1,app,read,4,4,0,0,0,0,0,0,0,9\n"; string(got) != wanted {
		t.Errorf("got %q, wanted %q", got, wanted)
	}
}

func TestLanesAreAddedByOperationAlsoOfFilesFromBeforeTheseWereToldApart(t *testing.T) {
	for _, each := range [][2]string{
		{"t,lane,op,offered,ok,bad,pending\n0.0,a:1,read,5,4,0,1\n0.0,a:1,write,3,0,3,0\n",
			"t,lane,op,offered,ok,bad,pending\n0.0,a:1,read,10,8,0,2\n0.0,a:1,write,6,0,6,0\n"},
		{"t,lane,offered,ok,bad,pending\n0.0,a:1,5,4,0,1\n", "t,lane,offered,ok,bad,pending\n0.0,a:1,10,8,0,2\n"},
	} {
		dir := parts(t, map[string][]byte{"series.csv": []byte(whole), "lanes.csv": []byte(each[0])})
		if err := Load(dir); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "lanes.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != each[1] {
			t.Errorf("got %q, wanted %q", got, each[1])
		}
	}
}

// FuzzMerge wants of any file of a part that it is merged or refused in words, and that nothing
// is left beside the run's files.
func FuzzMerge(f *testing.F) {
	names := []string{"series.csv", "outcomes.csv", "errors.csv", "lanes.csv", "generator.csv", "latency.hlog", "generator.json", "ledger.ndjson"}
	f.Add(0, []byte(whole))
	f.Add(2, []byte("t,stream,op,cause,code,n\n0.0,a,read,other,\"x,\"\"\ny\",3\n"))
	f.Add(4, []byte("t,lag_p99_ms,lag_max_ms,gc_pause_ms,cpu_s,rss_mb,goroutines\n0.0,1,2,3,4,5,6\n"))
	times := hdr.New(1, 3_600_000_000, 3)
	_, _ = times.RecordValues(7, 3), times.RecordValue(9)
	histogram, err := times.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(5, append([]byte("#[x]\nTag=a,0.000,1.000,0.009,"), append(histogram, '\n')...))
	f.Add(6, []byte(`{"offered":3,"ended":true,"end_t":1.5,"host":"a","part":{"index":0,"of":2}}`))
	f.Add(7, []byte(`{"key":"k","stream":"s","kind":"counter","acked":1,"acked_n":1}`+"\n"+`{"end":true,"keys":1,"read":1}`))
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		dir := parts(t, map[string][]byte{names[uint(which)%uint(len(names))]: text})
		for _, merge := range []func(string) error{Load, Ledger} {
			if err := merge(dir); err != nil && err.Error() == "" {
				t.Errorf("%q is refused without a word", text)
			}
		}
		left, err := filepath.Glob(filepath.Join(dir, ".*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
}

func TestHistogramsAreAddedValueByValue(t *testing.T) {
	one, other, sum := hdr.New(1, 3_600_000_000, 3), hdr.New(1, 3_600_000_000, 3), hdr.New(1, 3_600_000_000, 3)
	for value, n := range map[int64]int64{1: 1, 5: 1 << 40, 20_000: 2} {
		_, _, _ = one.RecordValues(value, n), other.RecordValues(value, 3*n), sum.RecordValues(value, 4*n)
	}
	if err := add(one, other); err != nil || !one.Equals(sum) {
		t.Errorf("got %v, %v", one.Distribution(), err)
	}
	if err := add(one, hdr.New(1, 60_000_000, 3)); err == nil {
		t.Error("histograms of different shapes were added")
	}
}
