package runfile

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// The columns after `t,stream,op`, as the generator writes them.
var (
	SeriesColumns   = []string{"offered", "ok", "late", "failed", "in_doubt", "shed", "missed", "retried", "pending", "max_us"}
	OutcomesColumns = SeriesColumns[:7]
)

const (
	mostRows   = 4096 // streams and operations of a bucket
	mostDigits = 16
)

// Table reads `t,stream,op,…`: a row a stream and operation in every bucket, none left out.
type Table struct {
	*Lines
	Columns []string
	Keys    [][]byte // `,stream,op,` of each row of a bucket; none without two begun buckets
	Counts  []int64  // of the bucket read last, row by row
	most    []int64  // of each column
	first   []string // the rows of the first bucket, and the one after
	bucket  int64
	t       []byte // the first field of the rows of this bucket
}

// NewTable reads as much as it needs to know the keys.
func NewTable(l *Lines, columns []string) (*Table, error) {
	t := &Table{Lines: l, Columns: columns}
	for _, name := range columns {
		t.most = append(t.most, mostOf(name))
	}
	if err := l.Header("t,stream,op," + strings.Join(columns, ",")); err != nil {
		return nil, err
	}
	for {
		line, ok, err := l.Next()
		if err != nil {
			return nil, err
		}
		if !ok { // whether a single bucket is whole cannot be known
			t.Keys, t.first = nil, nil
			return t, nil
		}
		fields := bytes.SplitN(line, []byte(","), 4)
		if len(fields) < 4 {
			return nil, l.Wrong("found %d fields (wanted %d)", len(fields), 3+len(columns))
		}
		t.first = append(t.first, string(line))
		if begun, _, _ := strings.Cut(t.first[0], ","); begun != string(fields[0]) {
			t.Counts = make([]int64, len(t.Keys)*len(columns))
			return t, nil
		}
		if len(t.Keys) == mostRows {
			return nil, l.Wrong("found more than %d rows of one bucket", mostRows)
		}
		t.Keys = append(t.Keys, []byte(","+string(fields[1])+","+string(fields[2])+","))
	}
}

// mostOf bounds a column.
func mostOf(name string) int64 {
	if name == "max_us" { // microseconds of an hour do not fit into 32 bits
		return 1 << 53
	}
	return math.MaxInt32
}

// row is the next line: one of those that were read to know the keys, or one of the file.
func (t *Table) row() (line []byte, ok bool, err error) {
	if len(t.first) > 0 {
		t.Number = 1 + len(t.Keys) + 2 - len(t.first) // the header, and one row more than the keys
		line, t.first = []byte(t.first[0]), t.first[1:]
		return line, true, nil
	}
	return t.Next()
}

// Read takes the next bucket; false at the end, where one that is not whole is left out.
func (t *Table) Read() (bool, error) {
	t.t = AppendBucket(t.t[:0], t.bucket)
	for i, key := range t.Keys {
		line, ok, err := t.row()
		if err != nil || !ok {
			return false, err
		}
		if err := t.take(line, key, t.Counts[i*len(t.Columns):][:len(t.Columns)]); err != nil {
			return false, err
		}
	}
	t.bucket++
	return len(t.Keys) > 0, nil
}

func (t *Table) take(line, key []byte, counts []int64) error {
	rest, isTime := bytes.CutPrefix(line, t.t)
	rest, isKey := bytes.CutPrefix(rest, key)
	if !isTime || !isKey {
		return t.Wrong("is out of order: found `%.80s` (wanted `%s%s…`: a row for every stream and operation in "+
			"every bucket of 0.1 s, none left out)", line, t.t, key)
	}
	if wrong := takeCounts(rest, t.most, counts); wrong >= 0 {
		return malformed(t.Lines, 3, rest, t.Columns, t.most, wrong)
	}
	return nil
}

// takeCounts reads numbers with commas between them, and returns the number of the first invalid one.
func takeCounts(text []byte, most, counts []int64) (wrong int) {
	for i := range counts {
		digits, n := 0, int64(0)
		for ; digits < len(text) && text[digits]-'0' <= 9 && digits < mostDigits; digits++ {
			n = 10*n + int64(text[digits]-'0')
		}
		last := i == len(counts)-1
		if digits == 0 || n > most[i] || last != (digits == len(text)) || !last && text[digits] != ',' {
			return i
		}
		counts[i] = n
		if !last {
			text = text[digits+1:]
		}
	}
	return -1
}

// malformed says what is wrong with a row of which this text is left after its first fields, and the
// count of this number is invalid.
func malformed(l *Lines, before int, text []byte, columns []string, most []int64, count int) error {
	fields := bytes.Split(text, []byte(","))
	if len(fields) != len(columns) {
		return l.Wrong("found %d fields (wanted %d)", before+len(fields), before+len(columns))
	}
	return l.Wrong("`%s` is `%.40s` (wanted 0 to %d)", columns[count], fields[count], most[count])
}

// AppendBucket appends when a bucket begins, in seconds with one decimal.
func AppendBucket(line []byte, bucket int64) []byte {
	line = append(strconv.AppendInt(line, bucket/10, 10), '.')
	return strconv.AppendInt(line, bucket%10, 10)
}
