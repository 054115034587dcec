// Package record writes the run directory: the raw files that every figure is
// later made from. They are append-only, and what is final reaches the
// operating system at least twice a second, so they survive the death of
// everything but the machine.
package record

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"time"

	"brownout/loadgen/engine/account"
)

const (
	seriesHeader   = "t,stream,op,offered,ok,late,failed,in_doubt,shed,missed,retried,pending,max_us\n"
	outcomesHeader = "t,stream,op,offered,ok,late,failed,in_doubt,shed,missed\n"
	errorsHeader   = "t,stream,op,cause,code,n\n"
	lanesHeader    = "t,lane,op,offered,ok,bad,pending\n"
	selfHeader     = "t,lag_p99_ms,lag_max_ms,gc_pause_ms,cpu_s,rss_mb,goroutines\n"
)

// Directory is one run's directory, open for writing.
type Directory struct {
	path                                            string
	series, outcomes, errors, lanes, latency, selfs *file
	ledger                                          *file
	histograms                                      encoder
}

var _ account.Sink = (*Directory)(nil)

// Create makes the directory if need be, and the files in it.
func Create(path string) (*Directory, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, explain(err)
	}
	d := &Directory{path: path}
	for _, wanted := range []struct {
		file         **file
		name, header string
	}{
		{&d.series, "series.csv", seriesHeader},
		{&d.outcomes, "outcomes.csv", outcomesHeader},
		{&d.errors, "errors.csv", errorsHeader},
		{&d.lanes, "lanes.csv", lanesHeader},
		{&d.selfs, "generator.csv", selfHeader},
		{&d.latency, "latency.hlog", ""},
	} {
		created, err := create(path, wanted.name, wanted.header)
		if err != nil {
			_ = d.Close()
			return nil, err
		}
		*wanted.file = created
	}
	return d, d.flush()
}

// Begin notes the start of the schedule, which all times count from.
func (d *Directory) Begin(t0 time.Time) error {
	d.latency.lines = appendLogHeader(d.latency.lines, t0)
	return d.flush()
}

// Take writes a report down.
func (d *Directory) Take(report *account.Report) error {
	for i := range report.Batch.Series {
		d.series.lines = appendSeries(d.series.lines, report.Slots, &report.Batch.Series[i])
	}
	for i := range report.Batch.Outcomes {
		d.outcomes.lines = appendOutcome(d.outcomes.lines, report.Slots, &report.Batch.Outcomes[i])
	}
	for i := range report.Batch.Errors {
		d.errors.lines = appendError(d.errors.lines, report.Slots, &report.Batch.Errors[i])
	}
	for i := range report.Batch.Lanes {
		d.lanes.lines = appendLane(d.lanes.lines, report.Lanes, &report.Batch.Lanes[i])
	}
	for i := range report.Self {
		d.selfs.lines = appendSelf(d.selfs.lines, &report.Self[i])
	}
	for _, interval := range report.Intervals {
		lines, err := d.histograms.appendInterval(d.latency.lines, report.Slots, interval)
		if err != nil {
			return err
		}
		d.latency.lines = lines
	}
	return d.flush()
}

func (d *Directory) files() []*file {
	return []*file{d.series, d.outcomes, d.errors, d.lanes, d.selfs, d.latency}
}

func (d *Directory) flush() error {
	for _, f := range d.files() {
		if err := f.flush(); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the rest and closes the files of the schedule. The ledger is
// apart: it follows after the stop.
func (d *Directory) Close() (first error) {
	for _, f := range d.files() {
		if f == nil {
			continue
		}
		if err := f.close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// file path of a name in the directory.
func (d *Directory) in(name string) string { return filepath.Join(d.path, name) }

// Draw writes a page that is whole or not there.
func (d *Directory) Draw(name string, draw func(io.Writer) error) error {
	var page bytes.Buffer
	if err := draw(&page); err != nil {
		return explain(err)
	}
	return d.replace(name, page.Bytes())
}

// replace writes a file in one step.
func (d *Directory) replace(name string, content []byte) error {
	temporary := d.in("." + name + ".new")
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		_ = os.Remove(temporary)
		return explain(err)
	}
	if err := os.Rename(temporary, d.in(name)); err != nil {
		return explain(err)
	}
	return nil
}
