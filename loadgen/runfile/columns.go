package runfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"sync"
)

// column is whole numbers, little-endian, in the narrowest signed type that holds all of them.
type column struct {
	name  string
	width int // in bytes: 1, 2, 4 or 8
	data  []byte
}

// add appends every step-th of the numbers, from the first on; none is below 0.
func (c *column) add(numbers []int64, step int) {
	most, data := c.most(), c.data
	for i := 0; i < len(numbers); i += step {
		for ; numbers[i] > most; most, data = c.most(), c.data {
			c.data = data
			c.widen()
		}
		data = appendInt(data, numbers[i], c.width)
	}
	c.data = data
}

func (c *column) most() int64 { return math.MaxInt64 >> (64 - 8*c.width) }

func appendInt(data []byte, n int64, width int) []byte {
	switch width {
	case 1:
		return append(data, byte(n))
	case 2:
		return binary.LittleEndian.AppendUint16(data, uint16(n))
	case 4:
		return binary.LittleEndian.AppendUint32(data, uint32(n))
	}
	return binary.LittleEndian.AppendUint64(data, uint64(n))
}

// widen takes the next wider type; no number is below 0, so zeros make it wider.
func (c *column) widen() {
	wide := make([]byte, 0, 2*cap(c.data))
	for at := 0; at < len(c.data); at += c.width {
		wide = append(wide, c.data[at:at+c.width]...)
		wide = append(wide, make([]byte, c.width)...)
	}
	c.data, c.width = wide, 2*c.width
}

// Columns is what a file holds, column by column.
type Columns struct {
	labels  []string
	columns []*column
	floats  []*column // of float64
}

func newColumns(width int, names ...string) []*column {
	made := make([]*column, len(names))
	for i, name := range names {
		made[i] = &column{name: name, width: width}
	}
	return made
}

// ReadColumns reads files at the same time: series.csv and outcomes.csv, whose labels are stream and
// operation of each row of a bucket, lanes.csv, whose labels are the lanes, and latency.hlog, whose
// labels are the tags.
func ReadColumns(paths []string) ([]*Columns, error) {
	found, errs := make([]*Columns, len(paths)), make([]error, len(paths))
	var all sync.WaitGroup
	for i, path := range paths {
		all.Add(1)
		go func() {
			defer all.Done()
			found[i], errs[i] = readColumns(path)
		}()
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func readColumns(path string) (*Columns, error) {
	dir, file := filepath.Split(path)
	lines, err := Open(dir, file)
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	switch file {
	case "series.csv":
		return countsOf(lines, SeriesColumns)
	case "outcomes.csv":
		return countsOf(lines, OutcomesColumns)
	case "lanes.csv":
		return lanesOf(lines)
	case "latency.hlog":
		return intervalsOf(lines)
	}
	return nil, fmt.Errorf("%s: not one of the files with columns (wanted series.csv, outcomes.csv, lanes.csv or latency.hlog)", path)
}

func countsOf(lines *Lines, names []string) (*Columns, error) {
	table, err := NewTable(lines, names)
	if err != nil {
		return nil, err
	}
	found := &Columns{columns: newColumns(1, names...)}
	for {
		more, err := table.Read()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		for i, column := range found.columns {
			column.add(table.Counts[i:], len(names))
		}
	}
	for _, key := range table.Keys {
		found.labels = append(found.labels, string(bytes.Trim(key, ",")))
	}
	return found, nil
}

// intervalsOf finds the payloads and leaves them where they are: those of a day are a gigabyte.
func intervalsOf(lines *Lines) (*Columns, error) {
	log, err := NewLog(lines)
	if err != nil {
		return nil, err
	}
	found := &Columns{columns: newColumns(1, "tag", "place", "size"), floats: newColumns(8, "start", "length")}
	tags := map[string]int64{}
	for log.More {
		one := log.Current
		tag, known := tags[string(one.Tag())]
		if !known {
			tag = int64(len(tags))
			tags[string(one.Tag())] = tag
			found.labels = append(found.labels, string(one.Tag()))
		}
		for i, n := range []int64{tag, one.Place, int64(len(one.Payload))} {
			found.columns[i].add([]int64{n}, 1)
		}
		for i, x := range []float64{one.Start, one.Length} {
			found.floats[i].data = appendInt(found.floats[i].data, int64(math.Float64bits(x)), 8)
		}
		if err := log.Read(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Write writes a line of JSON, {"labels": [TEXT, …], "columns": [[NAME, TYPE, ROWS], …]}, with types
// as numpy names them, and after it the columns. All begin at a multiple of 8 bytes, so that brownout
// can use them where they are.
func (c *Columns) Write(out io.Writer) error {
	all := append(c.columns, c.floats...)
	head := struct {
		Labels  []string `json:"labels"`
		Columns [][3]any `json:"columns"`
	}{Labels: append([]string{}, c.labels...)}
	for i, one := range all {
		kind := fmt.Sprintf("i%d", one.width)
		if i >= len(c.columns) {
			kind = "f8"
		}
		head.Columns = append(head.Columns, [3]any{one.name, kind, len(one.data) / one.width})
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	_, _ = buffered.Write(append(padded(text, 1, ' '), '\n'))
	for _, one := range all {
		_, _ = buffered.Write(padded(one.data, 0, 0))
	}
	return buffered.Flush()
}

// padded makes the text and as many bytes after it a multiple of 8 bytes long.
func padded(text []byte, after int, with byte) []byte {
	for (len(text)+after)%8 != 0 {
		text = append(text, with)
	}
	return text
}
