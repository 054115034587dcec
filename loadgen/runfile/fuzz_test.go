package runfile

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const series = "t,stream,op,offered,ok,late,failed,in_doubt,shed,missed,retried,pending,max_us\n" +
	"0.0,app,read,1,1,0,0,0,0,0,0,0,7\n0.1,app,read,2,2,0,0,0,0,0,0,0,9\n"

func payloadOf(t testing.TB, highest int64, digits int, times ...int64) []byte {
	t.Helper()
	histogram := hdr.New(1, highest, digits)
	for _, us := range times {
		if err := histogram.RecordValue(us); err != nil {
			t.Fatal(err)
		}
	}
	payload, err := histogram.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func written(t testing.TB, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// FuzzReading wants of any file that it is read or refused in words, and of any payload (4) that its
// percentiles are found, or it is refused.
func FuzzReading(f *testing.F) {
	names := []string{"series.csv", "outcomes.csv", "latency.hlog", "lanes.csv"}
	f.Add(0, []byte(series))
	f.Add(1, []byte("t,stream,op,offered,ok,late,failed,in_doubt,shed,missed\n0.0,a,read,1,1,0,0,0,0,0\n0.1,"))
	f.Add(2, append([]byte("#[x]\nTag=app/read,0.000,1.000,0.009,"), append(payloadOf(f, 1e9, 3, 7), '\n')...))
	f.Add(3, []byte("t,lane,op,offered,ok,bad,pending\n0.0,a:1,read,5,4,0,1\n0.0,a:1,write,5,4,0,1\n"))
	f.Add(3, []byte("t,lane,offered,ok,bad,pending\n0.0,a:1,5,4,0,1\n0.1,\"odd,\"\"name\"\"\",3,1,1,1\n"))
	for _, digits := range []int{1, 3, 5} {
		f.Add(4, payloadOf(f, 3_600_000_000, digits, 1, 7, 7, 90_000, 3_600_000_000))
	}
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		read := percentilesOf
		if which %= 5; which >= 0 && which < 4 {
			read = func(t *testing.T, text []byte) error { return columnsOf(t, names[which], text) }
		}
		if err := read(t, text); err != nil && err.Error() == "" {
			t.Errorf("%q is refused without a word", text)
		}
	})
}

// columnsOf wants as many rows in each column.
func columnsOf(t *testing.T, name string, text []byte) error {
	found, err := ReadColumns([]string{written(t, name, text)})
	if err != nil {
		return err
	}
	all := append(found[0].columns, found[0].floats...)
	for _, one := range all {
		if rows := len(one.data) / one.width; rows != len(all[0].data)/all[0].width {
			t.Errorf("%q: %d rows of %s", text, rows, one.name)
		}
	}
	return found[0].Write(io.Discard)
}

func percentilesOf(t *testing.T, payload []byte) error {
	path := written(t, "latency.hlog", payload)
	found, err := Percentiles(path, []Stored{{0, 0, int64(len(payload))}}, []float64{0.5, 1})
	if err == nil && (len(found) != 2 || found[0] > found[1]) {
		t.Errorf("%q has the percentiles %v", payload, found)
	}
	return err
}

func TestATimeIsTheHighestThatTheLibraryCountsTheSame(t *testing.T) {
	for _, is := range []struct {
		highest int64
		digits  int
	}{{3_600_000_000, 3}, {1_000_000, 2}, {10_000_000_000, 1}, {2, 5}} {
		histogram := hdr.New(1, is.highest, is.digits)
		made := shape{1, is.highest, int32(is.digits)}
		if wanted := len(histogram.Export().Counts); made.length() != wanted {
			t.Errorf("%v has %d cells, wanted %d", is, made.length(), wanted)
		}
		for us := int64(1); us <= is.highest; us += 1 + us/7 {
			histogram.Reset()
			if err := histogram.RecordValue(us); err != nil {
				t.Fatal(err)
			}
			index := slices.Index(histogram.Export().Counts, 1)
			if wanted := histogram.ValueAtPercentile(100); made.highest(index) != wanted {
				t.Errorf("%v: %d µs are %d, wanted %d", is, us, made.highest(index), wanted)
			}
		}
	}
}

func TestSeveralWorkersGiveEveryRowItsOwnTimes(t *testing.T) {
	var text []byte
	var stored []Stored
	for row := range int64(101) {
		for _, us := range []int64{1 + row, 2 + row} {
			payload := payloadOf(t, 3_600_000_000, 3, us)
			stored = append(stored, Stored{3 * row, int64(len(text)), int64(len(payload))})
			text = append(text, payload...)
		}
	}
	found, err := Percentiles(written(t, "latency.hlog", text), stored, []float64{0.5, 0.51})
	if err != nil {
		t.Fatal(err)
	}
	for row := range 101 {
		if got := found[2*row:][:2]; got[0] != int64(1+row) || got[1] != int64(2+row) {
			t.Errorf("row %d: %v", row, got)
		}
	}
}

func TestAColumnIsAsWideAsItsLargestNumber(t *testing.T) {
	numbers := []int64{0, 1}
	for _, most := range []int64{math.MaxInt8, math.MaxInt16, math.MaxInt32, math.MaxInt64} {
		one := &column{width: 1}
		one.add(numbers, 1)
		one.add([]int64{most, -1}, 2)
		width := one.width
		if one.add(numbers, 1); one.width != width || len(one.data) != 5*width || one.data[width] != 1 {
			t.Errorf("%d after 0 and 1 is %x", most, one.data)
		}
		if wanted := appendInt(nil, most, width); one.most() != most || !bytes.Equal(one.data[2*width:][:width], wanted) {
			t.Errorf("%d has %d bytes, and is %x", most, width, one.data[2*width:][:width])
		}
	}
}
