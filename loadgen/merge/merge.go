// Package merge combines the files of several generators, in parts/0, parts/1, … of a run
// directory with parts.json, into the files of one load.
//
// All parts are read line by line and in step. Memory holds one bucket or second of each part, and
// the counters and eight bytes per key of the ledger. Every file is written under another name and
// renamed; the parts do not change.
package merge

import (
	"math"
	"path/filepath"
	"strconv"

	"brownout/loadgen/runfile"
)

// run is the run directory and what parts.json says.
type run struct {
	dir   string
	facts *facts
}

func open(dir string) (*run, error) {
	facts, err := readFacts(dir)
	return &run{dir, facts}, err
}

// part is the path of a file of one part, from the run directory.
func (r *run) part(index int, name string) string {
	return filepath.Join("parts", strconv.Itoa(index), name)
}

// parts is the path of a file of each part.
func (r *run) parts(name string) []string {
	paths := make([]string, len(r.facts.parts))
	for i := range paths {
		paths[i] = r.part(i, name)
	}
	return paths
}

// Load merges all files of the run at dir except the ledger.
func Load(dir string) error {
	r, err := open(dir)
	if err != nil {
		return err
	}
	summary, err := r.summary()
	if err != nil {
		return err
	}
	buckets, err := r.addTables("series.csv", runfile.SeriesColumns)
	if err != nil {
		return err
	}
	if _, err := r.addTables("outcomes.csv", runfile.OutcomesColumns); err != nil {
		return err
	}
	if err := r.addRows("errors.csv", []string{"t", "stream", "op", "cause", "code", "n"}, 5, buckets); err != nil {
		return err
	}
	lanes, err := r.lanesHeader()
	if err != nil {
		return err
	}
	if err := r.addRows("lanes.csv", lanes, len(lanes)-len(runfile.LanesColumns), buckets); err != nil {
		return err
	}
	if err := r.worstSeconds(); err != nil {
		return err
	}
	end := math.Inf(1)
	if !summary.ended {
		end = float64(buckets) / 10
	}
	if err := r.addLatency(end); err != nil {
		return err
	}
	return r.writeSummary(summary)
}
