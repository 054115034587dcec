// Package metrics shows a running load to Prometheus. Figures are taken from
// the same reports as the files, so scraping costs the load nothing.
package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"brownout/loadgen/engine/account"
)

// Exporter collects the figures of one load.
type Exporter struct {
	book  *account.Book
	slots []account.Slot

	mu      sync.Mutex
	retried []uint64
	causes  []map[string]uint64 // of each slot
	pools   []account.Pool
	self    account.Self
}

var (
	_ account.Sink         = (*Exporter)(nil)
	_ prometheus.Collector = (*Exporter)(nil)
)

// NewExporter returns the exporter of the load that book accounts for.
func NewExporter(book *account.Book) *Exporter {
	slots := book.Slots()
	e := &Exporter{book: book, slots: slots, retried: make([]uint64, len(slots))}
	for range slots {
		e.causes = append(e.causes, map[string]uint64{})
	}
	return e
}

// Take remembers what a report adds.
func (e *Exporter) Take(report *account.Report) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, row := range report.Batch.Series {
		e.retried[row.Slot] += row.Retried
	}
	for _, row := range report.Batch.Errors {
		e.causes[row.Slot][string(row.Cause)] += row.N
	}
	if n := len(report.Self); n > 0 {
		e.self = report.Self[n-1]
	}
	e.pools = report.Pools
	return nil
}

// The metrics, by what their labels tell.
var (
	byOutcome = describe("operations_total", "Operations that ended, by how.", "stream", "op", "outcome")
	offered   = describe("operations_offered_total", "Operations that were scheduled to start.", "stream", "op")
	retried   = describe("operations_retried_total", "Operations that took more than one attempt.", "stream", "op")
	pending   = describe("operations_pending", "Operations offered and not yet ended, queued or in flight.", "stream", "op")
	response  = describe("response_time_seconds",
		"Response time of ok operations, from the intended start.", "stream", "op")
	byCause = describe("errors_total", "Operations that were late, failed, in doubt or shed, by cause.",
		"stream", "op", "cause")
	laneInFlight = describe("lane_in_flight", "Operations sent and not yet answered, per lane.", "lane")
	laneQueued   = describe("lane_queued", "Operations waiting for a slot, per lane.", "lane")
	laneCap      = describe("lane_cap", "Limit of operations in flight, per lane.", "lane")
	lagP99       = describe("scheduling_lag_p99_seconds",
		"How late operations were sent in the last second, 99th percentile: the generator's own fault.")
	lagMax     = describe("scheduling_lag_max_seconds", "How late an operation was sent in the last second, at most.")
	violations = describe("identity_violations_total", "Sums that did not agree: a bug if not 0.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("brownout_"+name, help, labels, nil)
}

// Describe lists the metrics.
func (e *Exporter) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		byOutcome, offered, retried, pending, response, byCause,
		laneInFlight, laneQueued, laneCap, lagP99, lagMax, violations,
	} {
		descriptions <- d
	}
}

// Collect returns the present figures.
func (e *Exporter) Collect(out chan<- prometheus.Metric) {
	e.operations(out)
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, slot := range e.slots {
		for cause, n := range e.causes[i] {
			out <- counter(byCause, n, slot.Stream, slot.Op.String(), cause)
		}
	}
	for _, p := range e.pools {
		out <- gauge(laneInFlight, float64(p.InFlight), p.Name)
		out <- gauge(laneQueued, float64(p.Queued), p.Name)
		out <- gauge(laneCap, float64(p.Cap), p.Name)
	}
	out <- gauge(lagP99, e.self.LagP99.Seconds())
	out <- gauge(lagMax, e.self.LagMax.Seconds())
	out <- counter(violations, e.book.Violations())
}

func (e *Exporter) operations(out chan<- prometheus.Metric) {
	totals, live := e.book.Totals(), e.book.Pending()
	e.mu.Lock()
	again := append([]uint64(nil), e.retried...)
	e.mu.Unlock()
	for i, slot := range e.slots {
		op := slot.Op.String()
		for end := range account.Ends {
			out <- counter(byOutcome, totals[i].Ends[end], slot.Stream, op, end.String())
		}
		out <- counter(offered, totals[i].Offered, slot.Stream, op)
		out <- counter(retried, again[i], slot.Stream, op)
		out <- gauge(pending, float64(live[i]), slot.Stream, op)
		out <- e.responseTimes(i, slot.Stream, op)
	}
}

// The histogram's buckets: quarters of each doubling from 64 µs to 33.6 s.
const shortestUS, longestUS = 64, 1 << 25

func (e *Exporter) responseTimes(slot int, labels ...string) prometheus.Metric {
	counts, sumUS := e.book.ResponseTimes(slot)
	buckets, below := map[float64]uint64{}, uint64(0)
	for i, n := range counts {
		below += n
		if end := account.StepEndUS(i); end >= shortestUS && end <= longestUS {
			buckets[end/1e6] = below
		}
	}
	return prometheus.MustNewConstHistogram(response, below, float64(sumUS)/1e6, buckets, labels...)
}

func counter(d *prometheus.Desc, n uint64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func gauge(d *prometheus.Desc, x float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, x, labels...)
}
