package merge

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strconv"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// interval is a line of an HdrHistogram log: Tag=<tag>,<start>,<length>,<longest>,<payload>.
type interval struct {
	tag                    string
	start, length, longest float64
	payload                []byte
	line                   int
}

// hlog reads the intervals of one part's log.
type hlog struct {
	*lines
	head    []byte // the lines before the first interval
	current interval
	more    bool
}

func newHlog(l *lines) (*hlog, error) {
	h := &hlog{lines: l}
	return h, h.read()
}

func (h *hlog) read() error {
	for {
		line, ok, err := h.next()
		if h.more = ok; err != nil || !ok {
			return err
		}
		if len(line) > 0 && (line[0] == '#' || line[0] == '"') {
			if h.current.tag == "" {
				h.head = append(append(h.head, line...), '\n')
			}
			continue
		}
		fields := bytes.Split(line, []byte(","))
		if len(fields) != 5 {
			return h.wrong("is no interval: found %d fields (wanted a tag, three numbers and a histogram)", len(fields))
		}
		one := interval{tag: string(fields[0]), payload: bytes.Clone(fields[4]), line: h.number}
		for i, to := range []*float64{&one.start, &one.length, &one.longest} {
			if *to, err = strconv.ParseFloat(string(fields[1+i]), 64); err != nil || math.IsNaN(*to) || math.Abs(*to) > 1e12 {
				return h.wrong("is no interval: found `%.40s` (wanted a number)", fields[1+i])
			}
		}
		h.current = one
		return nil
	}
}

// addLatency adds the histograms of a second and tag, of those that begin before end.
func (r *run) addLatency(end float64) error {
	opened, close, err := r.openAll("latency.hlog")
	if err != nil {
		return err
	}
	defer close()
	all := make([]*hlog, len(opened))
	for i, each := range opened {
		if all[i], err = newHlog(each); err != nil {
			return err
		}
	}
	return r.replace("latency.hlog", 0o666, func(out *bufio.Writer) error {
		_, _ = out.Write(all[0].head)
		for {
			start := math.Inf(1)
			for _, part := range all {
				if part.more {
					start = min(start, part.current.start)
				}
			}
			if start >= end || math.IsInf(start, 1) {
				return nil
			}
			sums, tags := map[string]*sum{}, []string{}
			for _, part := range all {
				for part.more && part.current.start == start {
					if err := addInterval(sums, &tags, part); err != nil {
						return err
					}
					if err := part.read(); err != nil {
						return err
					}
				}
			}
			for _, tag := range tags {
				one := sums[tag]
				payload := one.payload
				if one.histogram != nil {
					if payload, err = one.histogram.Encode(hdr.V2CompressedEncodingCookieBase); err != nil {
						return fmt.Errorf("cannot encode a histogram: %w", err)
					}
				}
				if _, err := fmt.Fprintf(out, "%s,%.3f,%.3f,%.3f,%s\n", tag, one.start, one.length, one.longest, payload); err != nil {
					return &WriteError{err}
				}
			}
		}
	})
}

// sum is the intervals of one second and tag; a single one stays as it is.
type sum struct {
	interval
	part      *hlog
	histogram *hdr.Histogram
}

func addInterval(sums map[string]*sum, tags *[]string, part *hlog) error {
	one := part.current
	known := sums[one.tag]
	if known == nil {
		sums[one.tag], *tags = &sum{interval: one, part: part}, append(*tags, one.tag)
		return nil
	}
	if known.histogram == nil {
		first, err := decode(known.payload)
		if err != nil {
			return &Error{known.part.file, known.line, err.Error()}
		}
		known.histogram = first
	}
	other, err := decode(one.payload)
	if err == nil {
		err = add(known.histogram, other)
	}
	if err != nil {
		return &Error{part.file, one.line, err.Error()}
	}
	known.length, known.longest = max(known.length, one.length), max(known.longest, one.longest)
	return nil
}

// decode returns the histogram of an interval.
func decode(payload []byte) (*hdr.Histogram, error) {
	histogram, err := hdr.Decode(payload)
	if err != nil {
		return nil, fmt.Errorf("a histogram cannot be decoded: %w", err)
	}
	return histogram, nil
}

// add adds the counts of a histogram to those of one of the same shape.
func add(to, other *hdr.Histogram) error {
	if shape(to) != shape(other) {
		return fmt.Errorf("histograms of different shapes, %v and %v (digits, lowest, highest), cannot be added", shape(to), shape(other))
	}
	if to.TotalCount() > math.MaxInt64-other.TotalCount() {
		return fmt.Errorf("counts overflow")
	}
	to.Merge(other)
	return nil
}

func shape(h *hdr.Histogram) [3]int64 {
	return [3]int64{h.SignificantFigures(), h.LowestTrackableValue(), h.HighestTrackableValue()}
}
