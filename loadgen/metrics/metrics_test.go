package metrics

import (
	"io"
	"net/http"
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

func TestALoadIsExportedWithItsUnits(t *testing.T) {
	server, err := Serve("127.0.0.1:0", map[string]string{"run": "r1"}, someLoad(t))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	answer, err := http.Get("http://" + server.Address() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{
		`brownout_operations_total{op="read",outcome="ok",run="r1",stream="app"} 2`,
		`brownout_operations_total{op="read",outcome="in_doubt",run="r1",stream="app"} 0`,
		`brownout_errors_total{cause="overloaded",run="r1"} 1`,
		`brownout_response_time_seconds_bucket{op="read",run="r1",stream="app",le="0.001024"} 1`,
		`brownout_response_time_seconds_bucket{op="read",run="r1",stream="app",le="0.002048"} 2`,
		`brownout_response_time_seconds_sum{op="read",run="r1",stream="app"} 0.003`,
		`brownout_lane_queued{lane="n1",run="r1"} 2`,
		`brownout_scheduling_lag_p99_seconds{run="r1"} 0.001`,
		`process_resident_memory_bytes{run="r1"}`,
	} {
		if !strings.Contains(string(text), wanted) {
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
