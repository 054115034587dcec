package merge

import (
	"bufio"
	"encoding/csv"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brownout/loadgen/runfile"
)

var number = regexp.MustCompile(`^-?[0-9]{1,15}(\.[0-9]{1,15})?$`)

// texts are the columns that hold no number.
var texts = []string{"stream", "op", "cause", "code", "lane"}

// rows reads a small CSV file, whose texts may be quoted.
type rows struct {
	*runfile.Lines
	header []string
	fields []string // of the row read last
	at     float64  // its first field
	more   bool
}

func newRows(l *runfile.Lines, header []string) (*rows, error) {
	r := &rows{Lines: l, header: header}
	if err := l.Header(strings.Join(header, ",")); err != nil {
		return nil, err
	}
	return r, r.read()
}

// read takes the next row, if there is more.
func (r *rows) read() error {
	line, ok, err := r.Next()
	if r.more = ok; err != nil || !ok {
		return err
	}
	text := string(line)
	for strings.Count(text, `"`)%2 == 1 { // a quoted text continues in the next line
		line, ok, err := r.Next()
		if err != nil || !ok || len(text) > runfile.Longest {
			r.more = false
			return err
		}
		text += "\n" + string(line)
	}
	if r.fields, err = csv.NewReader(strings.NewReader(text)).Read(); err != nil {
		return r.Wrong("is not a row: %v", err)
	}
	if len(r.fields) != len(r.header) {
		return r.Wrong("found %d fields (wanted %d)", len(r.fields), len(r.header))
	}
	for i, name := range r.header {
		if !slices.Contains(texts, name) && !number.MatchString(r.fields[i]) {
			return r.Wrong("`%s` is `%.40s` (wanted a number)", name, r.fields[i])
		}
	}
	r.at, _ = strconv.ParseFloat(r.fields[0], 64) // it is a number
	return nil
}

func bucketOf(t float64) int64 { return int64(math.Floor(t*10 + 1e-6)) }

// lanesHeader returns the columns of lanes.csv: that of the first part says whether it has `op`.
func (r *run) lanesHeader() ([]string, error) {
	opened, close, err := r.openAll("lanes.csv")
	if err != nil {
		return nil, err
	}
	defer close()
	headers := []string{runfile.LanesHeader, runfile.LanesHeaderOfBoth}
	for _, one := range opened {
		which, err := one.HeaderOf(headers...)
		if err != nil || one.Number > 0 {
			return strings.Split(headers[which], ","), err
		}
	}
	return strings.Split(headers[0], ","), nil
}

// openRows opens a small file of every part.
func (r *run) openRows(name string, header []string) (all []*rows, close func(), err error) {
	opened, close, err := r.openAll(name)
	if err != nil {
		return nil, nil, err
	}
	for _, each := range opened {
		one, err := newRows(each, header)
		if err != nil {
			close()
			return nil, nil, err
		}
		all = append(all, one)
	}
	return all, close, nil
}

// addRows adds the rows of a bucket that begin with the same `head` fields, in the first buckets.
func (r *run) addRows(name string, header []string, head int, buckets int64) error {
	all, close, err := r.openRows(name, header)
	if err != nil {
		return err
	}
	defer close()
	return r.replace(name, func(out *bufio.Writer) error {
		rows := csv.NewWriter(out)
		_ = rows.Write(header)
		for {
			bucket := int64(math.MaxInt64)
			for _, part := range all {
				if part.more {
					bucket = min(bucket, bucketOf(part.at))
				}
			}
			if bucket >= buckets { // at the end, too
				if rows.Flush(); rows.Error() != nil {
					return &WriteError{rows.Error()}
				}
				return nil
			}
			sums, order := map[string][]int64{}, [][]string{}
			for _, part := range all {
				for part.more && bucketOf(part.at) == bucket {
					key := strings.Join(part.fields[1:head], "\x00")
					sum, known := sums[key]
					if !known {
						sum = make([]int64, len(header)-head)
						sums[key], order = sum, append(order, slices.Clone(part.fields[1:head]))
					}
					for i, field := range part.fields[head:] {
						n, _ := strconv.ParseFloat(field, 64) // it is a number
						sum[i] += int64(n)
					}
					if err := part.read(); err != nil {
						return err
					}
				}
			}
			for _, names := range order {
				fields := append([]string{string(runfile.AppendBucket(nil, bucket))}, names...)
				for _, n := range sums[strings.Join(names, "\x00")] {
					fields = append(fields, strconv.FormatInt(n, 10))
				}
				if err := rows.Write(fields); err != nil {
					return &WriteError{err}
				}
			}
		}
	})
}

// worstSeconds writes, for each second that every generator has, the largest of each column.
func (r *run) worstSeconds() error {
	header := []string{"t", "lag_p99_ms", "lag_max_ms", "gc_pause_ms", "cpu_s", "rss_mb", "goroutines"}
	all, close, err := r.openRows("generator.csv", header)
	if err != nil {
		return err
	}
	defer close()
	return r.replace("generator.csv", func(out *bufio.Writer) error {
		_, _ = out.WriteString(strings.Join(header, ",") + "\n")
		for !slices.ContainsFunc(all, func(part *rows) bool { return !part.more }) {
			worst := slices.Clone(all[0].fields)
			for _, part := range all {
				for i, field := range part.fields {
					one, _ := strconv.ParseFloat(field, 64) // they are numbers
					other, _ := strconv.ParseFloat(worst[i], 64)
					if one > other {
						worst[i] = field
					}
				}
				if err := part.read(); err != nil {
					return err
				}
			}
			if _, err := out.WriteString(strings.Join(worst, ",") + "\n"); err != nil {
				return &WriteError{err}
			}
		}
		return nil
	})
}
