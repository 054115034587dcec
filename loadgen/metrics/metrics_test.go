package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"brownout/loadgen/driver"
	"brownout/loadgen/engine/account"
)

func someLoad(t *testing.T) *Exporter {
	t.Helper()
	book := account.NewBook([]account.Slot{{Stream: "app", Op: driver.Read}})
	for i, end := range []account.End{account.Ok, account.Ok, account.Failed} {
		e := account.Ending{Lane: account.NoLane, End: end, Sent: true, Response: time.Duration(i+1) * time.Millisecond}
		e.Bucket = book.Offered(0, account.NoLane, 0)
		if end == account.Failed {
			e.Cause = driver.CauseOverloaded
		}
		book.Ended(&e)
	}
	exporter := NewExporter(book)
	err := exporter.Take(&account.Report{
		Batch: book.Close(time.Second),
		Pools: []account.Pool{{Name: "n1", Cap: 64, InFlight: 3, Queued: 2}},
		Self:  []account.Self{{LagP99: time.Millisecond}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return exporter
}

func TestALoadIsExportedWithItsUnitsAndLabels(t *testing.T) {
	labels := map[string]string{"run": "r1", "cluster": "lab"}
	text, err := NewPage(labels, someLoad(t)).Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{
		`brownout_operations_total{cluster="lab",op="read",outcome="ok",run="r1",stream="app"} 2`,
		`brownout_operations_total{cluster="lab",op="read",outcome="in_doubt",run="r1",stream="app"} 0`,
		`brownout_errors_total{cause="overloaded",cluster="lab",op="read",run="r1",stream="app"} 1`,
		`brownout_response_time_seconds_bucket{cluster="lab",op="read",run="r1",stream="app",le="0.001024"} 1`,
		`brownout_response_time_seconds_bucket{cluster="lab",op="read",run="r1",stream="app",le="0.002048"} 2`,
		`brownout_response_time_seconds_sum{cluster="lab",op="read",run="r1",stream="app"} 0.003`,
		`brownout_lane_queued{cluster="lab",lane="n1",run="r1"} 2`,
		`brownout_scheduling_lag_p99_seconds{cluster="lab",run="r1"} 0.001`,
		`process_resident_memory_bytes{cluster="lab",run="r1"}`,
	} {
		if !strings.Contains(text, wanted) {
			t.Errorf("missing: %s", wanted)
		}
	}
}

func TestTheMetricsFollowPrometheusRules(t *testing.T) {
	problems, err := testutil.CollectAndLint(someLoad(t))
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
