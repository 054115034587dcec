package runfile

import (
	"bytes"
	"encoding/csv"
	"strings"
)

// LanesColumns are the columns after `t,lane`, as the generator writes them.
var LanesColumns = []string{"offered", "ok", "bad", "pending"}

// lastBucket bounds `t`: brownout has room for every bucket before the last one, and no run lasts
// longer than a week.
const lastBucket = 7 * 24 * 36_000

// lanesOf reads a row a lane and bucket; a lane has none before its first operation.
func lanesOf(lines *Lines) (*Columns, error) {
	header := "t,lane," + strings.Join(LanesColumns, ",")
	if err := lines.Header(header); err != nil {
		return nil, err
	}
	found := &Columns{columns: newColumns(1, append([]string{"lane", "bucket"}, LanesColumns...)...)}
	most := make([]int64, len(LanesColumns))
	for i, name := range LanesColumns {
		most[i] = mostOf(name)
	}
	numbers, lanes := make([]int64, len(found.columns)), map[string]int64{}
	for {
		line, ok, err := lines.Next()
		if err != nil || !ok {
			return found, err
		}
		t, rest, _ := bytes.Cut(line, []byte(","))
		bucket, isTime := bucketOf(t)
		if !isTime {
			return nil, lines.Wrong("`t` is `%.40s` (wanted seconds with one decimal, of at most a week)", t)
		}
		name, rest, more := cutText(rest)
		if !more {
			return nil, lines.Wrong("is no row: found `%.80s` (wanted `%s`)", line, header)
		}
		if wrong := takeCounts(rest, most, numbers[2:]); wrong >= 0 {
			return nil, malformed(lines, 2, rest, LanesColumns, most, wrong)
		}
		lane, known := lanes[string(name)]
		if !known {
			lane = int64(len(lanes))
			lanes[string(name)] = lane
			found.labels = append(found.labels, string(name))
		}
		numbers[0], numbers[1] = lane, bucket
		for i, column := range found.columns {
			column.add(numbers[i:i+1], 1)
		}
	}
}

// bucketOf returns the bucket that begins at these seconds, which have one decimal.
func bucketOf(t []byte) (bucket int64, ok bool) {
	point := len(t) - 2
	if point < 1 || t[point] != '.' {
		return 0, false
	}
	for i, digit := range t {
		if i == point {
			continue
		}
		if bucket = 10*bucket + int64(digit-'0'); digit-'0' > 9 || bucket > lastBucket {
			return 0, false
		}
	}
	return bucket, true
}

// cutText cuts off a field that may be quoted as in RFC 4180.
func cutText(line []byte) (text, rest []byte, more bool) {
	if !bytes.HasPrefix(line, []byte(`"`)) {
		return bytes.Cut(line, []byte(","))
	}
	fields, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err != nil || len(fields) < 2 {
		return nil, nil, false
	}
	return []byte(fields[0]), []byte(strings.Join(fields[1:], ",")), true
}
