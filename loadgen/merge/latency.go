package merge

import (
	"bufio"
	"bytes"
	"fmt"
	"math"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"brownout/loadgen/runfile"
)

// addLatency adds the histograms of a second and tag, of those that begin before end.
func (r *run) addLatency(end float64) error {
	opened, close, err := r.openAll("latency.hlog")
	if err != nil {
		return err
	}
	defer close()
	all := make([]*runfile.Log, len(opened))
	for i, each := range opened {
		if all[i], err = runfile.NewLog(each); err != nil {
			return err
		}
	}
	return r.replace("latency.hlog", func(out *bufio.Writer) error {
		_, _ = out.Write(all[0].Head)
		for {
			start := math.Inf(1)
			for _, part := range all {
				if part.More {
					start = min(start, part.Current.Start)
				}
			}
			if start >= end || math.IsInf(start, 1) {
				return nil
			}
			sums, labels := map[string]*sum{}, []string{}
			for _, part := range all {
				for part.More && part.Current.Start == start {
					if err := addInterval(sums, &labels, part); err != nil {
						return err
					}
					if err := part.Read(); err != nil {
						return err
					}
				}
			}
			for _, label := range labels {
				one := sums[label]
				payload := one.Payload
				if one.histogram != nil {
					if payload, err = one.histogram.Encode(hdr.V2CompressedEncodingCookieBase); err != nil {
						return fmt.Errorf("cannot encode a histogram: %w", err)
					}
				}
				if _, err := fmt.Fprintf(out, "%s%.3f,%.3f,%.3f,%s\n", label, one.Start, one.Length, one.Longest, payload); err != nil {
					return &WriteError{err}
				}
			}
		}
	})
}

// sum is the intervals of one second and tag; a single one stays as it is.
type sum struct {
	runfile.Interval
	file      string
	line      int
	histogram *hdr.Histogram
}

func addInterval(sums map[string]*sum, labels *[]string, part *runfile.Log) error {
	one, label := part.Current, string(part.Current.Label)
	known := sums[label]
	if known == nil {
		one.Payload = bytes.Clone(one.Payload)
		sums[label], *labels = &sum{Interval: one, file: part.File, line: part.Number}, append(*labels, label)
		return nil
	}
	if known.histogram == nil {
		first, err := decode(known.Payload)
		if err != nil {
			return &runfile.Error{File: known.file, Line: known.line, Text: err.Error()}
		}
		known.histogram = first
	}
	other, err := decode(one.Payload)
	if err == nil {
		err = add(known.histogram, other)
	}
	if err != nil {
		return part.Wrong("%v", err)
	}
	known.Length, known.Longest = max(known.Length, one.Length), max(known.Longest, one.Longest)
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
