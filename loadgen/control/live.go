package control

import (
	"math"
	"time"

	"brownout/loadgen/engine/account"
)

// liveEvery is the time between two live events.
const liveEvery = 500 * time.Millisecond

// lanePart is the reads or the writes of a lane.
type lanePart struct {
	lane  int
	write bool
}

// live turns reports into live events.
type live struct {
	out  *output
	next time.Duration

	series, outcomes [][]any
	causes           map[string]uint64
	lanes            map[string]int64
	laneParts        map[lanePart]int64
	missed           uint64
	p50, p99, lag    any // null until there is something to say
}

var _ account.Sink = (*live)(nil)

func newLive(out *output) *live {
	l := &live{out: out, lanes: map[string]int64{}, laneParts: map[lanePart]int64{}}
	l.clear()
	return l
}

func (l *live) clear() {
	l.series, l.outcomes, l.causes = [][]any{}, [][]any{}, map[string]uint64{}
}

// Take collects a report, and sends an event when it is time.
func (l *live) Take(report *account.Report) error {
	l.rows(report)
	for _, row := range report.Batch.Errors {
		l.causes[string(row.Cause)] += row.N
	}
	for _, row := range report.Batch.Lanes {
		part := lanePart{row.Lane, row.Write}
		l.lanes[report.Lanes[row.Lane]] += row.Pending - l.laneParts[part]
		l.laneParts[part] = row.Pending
	}
	if n := len(report.Intervals); n > 0 {
		l.percentiles(report.Intervals[n-1])
	}
	if n := len(report.Self); n > 0 {
		l.lag = milliseconds(report.Self[n-1].LagP99)
	}
	if report.At >= l.next {
		l.next = report.At - report.At%liveEvery + liveEvery
		l.send(report)
	}
	return nil
}

func (l *live) rows(report *account.Report) {
	for i := range report.Batch.Series {
		row := &report.Batch.Series[i]
		l.missed += row.Ends[account.Missed]
		l.series = append(l.series, append(liveRow(report, row), row.Retried, row.Pending, row.MaxUS))
	}
	for i := range report.Batch.Outcomes {
		l.outcomes = append(l.outcomes, liveRow(report, &report.Batch.Outcomes[i]))
	}
}

func liveRow(report *account.Report, row *account.Row) []any {
	slot := report.Slots[row.Slot]
	fields := make([]any, 0, 13)
	fields = append(fields, float64(row.Bucket)/10, slot.Stream, slot.Op.String(), row.Offered)
	for _, n := range row.Ends {
		fields = append(fields, n)
	}
	return fields
}

func (l *live) percentiles(interval *account.Interval) {
	l.p50, l.p99 = nil, nil
	if interval.OK.TotalCount() > 0 {
		l.p50, l.p99 = interval.OK.ValueAtPercentile(50), interval.OK.ValueAtPercentile(99)
	}
}

func (l *live) send(report *account.Report) {
	inFlight := 0
	for _, pool := range report.Pools {
		inFlight += pool.InFlight
	}
	l.out.offer(named("live", event{
		"t": seconds(report.At), "series": l.series, "outcomes": l.outcomes, "causes": l.causes,
		"p50_us": l.p50, "p99_us": l.p99, "lag_p99_ms": l.lag,
		"missed": l.missed, "in_flight": inFlight, "lanes": l.lanes,
	}))
	l.clear()
}

// seconds rounds to a millisecond.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
