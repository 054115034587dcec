package merge

import (
	"bufio"
	"bytes"
	"math"
	"strconv"
	"strings"
)

// mostRows bounds the streams and operations of a bucket.
const mostRows = 4096

// table reads `t,stream,op,…`: a row a stream and operation in every bucket, none left out.
type table struct {
	*lines
	columns []string
	keys    [][]byte // `,stream,op,` of each row of a bucket; none without two begun buckets
	first   []string // the rows of the first bucket, and the one after
	bucket  int64
	counts  []int64 // of the bucket read last, row by row
}

func newTable(l *lines, columns []string) (*table, error) {
	t := &table{lines: l, columns: columns}
	if err := l.header("t,stream,op," + strings.Join(columns, ",")); err != nil {
		return nil, err
	}
	for {
		line, ok, err := l.next()
		if err != nil {
			return nil, err
		}
		if !ok { // whether a single bucket is whole cannot be known
			t.keys, t.first = nil, nil
			return t, nil
		}
		fields := bytes.SplitN(line, []byte(","), 4)
		if len(fields) < 4 {
			return nil, l.wrong("found %d fields (wanted %d)", len(fields), 3+len(columns))
		}
		t.first = append(t.first, string(line))
		if begun, _, _ := strings.Cut(t.first[0], ","); begun != string(fields[0]) {
			t.counts = make([]int64, len(t.keys)*len(columns))
			return t, nil
		}
		if len(t.keys) == mostRows {
			return nil, l.wrong("found more than %d rows of one bucket", mostRows)
		}
		t.keys = append(t.keys, []byte(","+string(fields[1])+","+string(fields[2])+","))
	}
}

// row is the next line: one of those that were read to know the keys, or one of the file.
func (t *table) row() (line []byte, ok bool, err error) {
	if len(t.first) > 0 {
		t.number = 1 + len(t.keys) + 2 - len(t.first) // the header, and one row more than the keys
		line, t.first = []byte(t.first[0]), t.first[1:]
		return line, true, nil
	}
	return t.next()
}

// read takes the next bucket; false at the end, where one that is not whole is left out.
func (t *table) read() (bool, error) {
	for i, key := range t.keys {
		line, ok, err := t.row()
		if err != nil || !ok {
			return false, err
		}
		if err := t.take(line, key, t.counts[i*len(t.columns):]); err != nil {
			return false, err
		}
	}
	t.bucket++
	return len(t.keys) > 0, nil
}

func (t *table) take(line, key []byte, counts []int64) error {
	head := append(appendBucket(nil, t.bucket), key...)
	if !bytes.HasPrefix(line, head) {
		return t.wrong("is out of order: found `%.80s` (wanted `%s…`: a row for every stream and operation in "+
			"every bucket of 0.1 s, none left out)", line, head)
	}
	fields := bytes.Split(line[len(head):], []byte(","))
	if len(fields) != len(t.columns) {
		return t.wrong("found %d fields (wanted %d)", 3+len(fields), 3+len(t.columns))
	}
	for i, field := range fields {
		most := int64(math.MaxInt32)
		if t.columns[i] == "max_us" {
			most = 1 << 53
		}
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil || n < 0 || n > most {
			return t.wrong("`%s` is `%.40s` (wanted 0 to %d)", t.columns[i], field, most)
		}
		counts[i] = n
	}
	return nil
}

func appendBucket(line []byte, bucket int64) []byte {
	line = append(strconv.AppendInt(line, bucket/10, 10), '.')
	return strconv.AppendInt(line, bucket%10, 10)
}

// addTables adds a file of counts bucket by bucket, over the buckets that every part has, and
// returns their number. `max_us` is the largest one.
func (r *run) addTables(name string, columns []string) (buckets int64, err error) {
	all, close, err := r.openAll(name)
	if err != nil {
		return 0, err
	}
	defer close()
	tables := make([]*table, len(all))
	for i, each := range all {
		if tables[i], err = newTable(each, columns); err != nil {
			return 0, err
		}
	}
	err = r.replace(name, 0o666, func(out *bufio.Writer) error {
		_, _ = out.WriteString("t,stream,op," + strings.Join(columns, ",") + "\n")
		var line []byte
		for {
			for _, t := range tables {
				if more, err := t.read(); err != nil || !more {
					return err
				}
			}
			if buckets == 0 {
				if err := sameStreams(tables); err != nil {
					return err
				}
			}
			one := tables[0]
			for _, t := range tables[1:] {
				for i, n := range t.counts {
					if columns[i%len(columns)] == "max_us" {
						one.counts[i] = max(one.counts[i], n)
					} else {
						one.counts[i] += n
					}
				}
			}
			for i, key := range one.keys {
				line = append(appendBucket(line[:0], buckets), key...)
				for j := range columns {
					line = append(strconv.AppendInt(line, one.counts[i*len(columns)+j], 10), ',')
				}
				line[len(line)-1] = '\n'
				if _, err := out.Write(line); err != nil {
					return &WriteError{err}
				}
			}
			buckets++
		}
	})
	return buckets, err
}

func sameStreams(tables []*table) error {
	one := bytes.Join(tables[0].keys, nil)
	for _, t := range tables[1:] {
		if other := bytes.Join(t.keys, nil); !bytes.Equal(one, other) {
			return &Error{t.file, 0, "the generators' series are of different streams: `" +
				string(other) + "`, and `" + string(one) + "` in " + tables[0].file}
		}
	}
	return nil
}
