package runfile

import (
	"bytes"
	"math"
	"strconv"
)

// longestRun bounds the times of intervals, in seconds: no run lasts for 30 years.
const longestRun = 1e9

// Interval is a line of an HdrHistogram log: Tag=<tag>,<start>,<length>,<longest>,<payload>. One
// without a tag is of all tags together.
type Interval struct {
	Label                  []byte // `Tag=<tag>,`, or nothing; until the next line is read
	Start, Length, Longest float64
	Payload                []byte // until the next line is read
	Place                  int64  // of the payload in the file
}

// Tag is the tag, or nothing.
func (i *Interval) Tag() []byte {
	if len(i.Label) == 0 {
		return nil
	}
	return i.Label[len("Tag=") : len(i.Label)-1]
}

// Log reads the intervals of an HdrHistogram log (format 1.3).
type Log struct {
	*Lines
	Head    []byte // the lines before the first interval
	Current Interval
	More    bool
	begun   bool
}

// NewLog reads the first interval.
func NewLog(l *Lines) (*Log, error) {
	log := &Log{Lines: l}
	return log, log.Read()
}

// Read takes the next interval, if there is more.
func (l *Log) Read() error {
	for {
		line, ok, err := l.Next()
		if l.More = ok; err != nil || !ok {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' || line[0] == '"' {
			if !l.begun {
				l.Head = append(append(l.Head, line...), '\n')
			}
			continue
		}
		l.begun = true
		return l.take(line)
	}
}

func (l *Log) take(line []byte) error {
	one := &l.Current
	rest := line
	if one.Label = nil; bytes.HasPrefix(line, []byte("Tag=")) {
		comma := bytes.IndexByte(line, ',')
		one.Label, rest = line[:comma+1], line[comma+1:]
	}
	for _, to := range []*float64{&one.Start, &one.Length, &one.Longest} {
		field, after, more := bytes.Cut(rest, []byte(","))
		var err error
		*to, err = strconv.ParseFloat(string(field), 64)
		if !more || err != nil || !(math.Abs(*to) <= longestRun) {
			return l.Wrong("is not an interval: `%.60s` (wanted a tag, three numbers and a histogram)", line)
		}
		rest = after
	}
	one.Payload = bytes.TrimRight(rest, " \t")
	one.Place = l.Place + int64(len(line)-len(rest))
	return nil
}
