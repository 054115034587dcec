package runfile

import (
	"bytes"
	"encoding/csv"
	"strings"
)

// LanesColumns are the counts of lanes.csv, as the generator writes them.
var LanesColumns = []string{"offered", "ok", "bad", "pending"}

// LanesHeader is the first line of lanes.csv. LanesHeaderOfBoth is that of a file from before reads
// were separated from writes.
var (
	LanesHeader       = "t,lane,op," + strings.Join(LanesColumns, ",")
	LanesHeaderOfBoth = "t,lane," + strings.Join(LanesColumns, ",")
)

// lastBucket bounds `t`: brownout has room for every bucket before the last one, and no run lasts
// longer than a week.
const lastBucket = 7 * 24 * 36_000

// lanesOf reads a row a bucket for the reads and for the writes of each lane, which has none before
// the first of them. The labels are `lane,op`; op is empty where the file does not have it.
func lanesOf(lines *Lines) (*Columns, error) {
	headers := []string{LanesHeader, LanesHeaderOfBoth}
	which, err := lines.HeaderOf(headers...)
	if err != nil {
		return nil, err
	}
	header, hasOp := headers[which], which == 0
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
		var op []byte
		if hasOp {
			op, rest, more = bytes.Cut(rest, []byte(","))
			if isOp := string(op) == "read" || string(op) == "write"; more && !isOp {
				return nil, lines.Wrong("`op` is `%.40s` (wanted `read` or `write`)", op)
			}
		}
		if !more {
			return nil, lines.Wrong("is not a row: found `%.80s` (wanted `%s`)", line, header)
		}
		if wrong := takeCounts(rest, most, numbers[2:]); wrong >= 0 {
			return nil, malformed(lines, len(strings.Split(header, ","))-len(LanesColumns), rest, LanesColumns, most, wrong)
		}
		label := string(name) + "," + string(op)
		lane, known := lanes[label]
		if !known {
			lane = int64(len(lanes))
			lanes[label] = lane
			found.labels = append(found.labels, label)
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
