package aerospike

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/engine"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/record"
	"brownout/loadgen/spec"
)

// BenchmarkOperation compares what an operation costs through this driver, the
// choice of its lane included, with the same operation by the official client
// alone: processor time of this process, per operation, with 32 at a time, against
// the stand-in server. Rounds of both follow one another, and the ratio is theirs.
func BenchmarkOperation(b *testing.B) {
	d := opened(b, sharedCluster(b), nil)
	var updates, lookups []driver.Op
	for key := range uint64(1000) {
		updates = append(updates, update(key, "0123456789abcdef0123456789abcdef"))
		lookups = append(lookups, read(updates[key]))
		do(b, d, updates[key])
	}
	reads, writes := d.policy.reads(1), d.policy.writes()
	reads.TotalTimeout, reads.SocketTimeout = 10*time.Second, 10*time.Second
	writes.TotalTimeout, writes.SocketTimeout = 10*time.Second, 10*time.Second
	for _, test := range []struct {
		name         string
		ours, client func(ctx context.Context, n int) error
	}{
		{"read", throughDriver(d, lookups), func(_ context.Context, n int) error {
			key, _ := client.NewKey(d.sets.namespace, d.sets.ledger, lookups[n%1000].ID)
			_, err := d.client.Get(&reads, key)
			return orNil(err)
		}},
		{"update", throughDriver(d, updates), func(_ context.Context, n int) error {
			op := &updates[n%1000]
			key, _ := client.NewKey(d.sets.namespace, d.sets.ledger, op.ID)
			return orNil(d.client.PutBins(&writes, key,
				client.NewBin(binWriter, op.Record.Writer), client.NewBin(binSeq, int64(op.Record.Seq)),
				client.NewBin(binChecksum, int64(op.Record.Checksum)), client.NewBin(driver.FieldNames[0], op.Value)))
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			var ours, bare time.Duration
			for b.Loop() {
				bare += cost(b, test.client)
				ours += cost(b, test.ours)
			}
			b.ReportMetric(microseconds(bare, b.N*roundOps), "client-cpu-µs/op")
			b.ReportMetric(microseconds(ours, b.N*roundOps), "driver-cpu-µs/op")
			b.ReportMetric(float64(ours)/float64(bare), "driver/client")
		})
	}
}

func throughDriver(d *Driver, ops []driver.Op) func(context.Context, int) error {
	return func(_ context.Context, n int) error {
		_, err := drivertest.Through(d, ops[n%len(ops)])
		return err
	}
}

// orNil keeps a nil of the client's own type from becoming an error.
func orNil(err client.Error) error {
	if err == nil {
		return nil
	}
	return err
}

// roundOps is the length of a round; workers how many do it.
const (
	roundOps = 20_000
	workers  = 32
)

// cost is the processor time of one round.
func cost(b *testing.B, run func(context.Context, int) error) time.Duration {
	b.Helper()
	before, done := drivertest.ProcessorTime(b), make(chan struct{})
	for worker := range workers {
		go func() {
			for n := worker; n < roundOps; n += workers {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				if err := run(ctx, n); err != nil {
					b.Error(err)
				}
				cancel()
			}
			done <- struct{}{}
		}()
	}
	for range workers {
		<-done
	}
	return drivertest.ProcessorTime(b) - before
}

// BenchmarkGenerator compares the whole generator (schedule, lanes, accounts,
// histograms, ledger's checksums and files) with a bare loop of the official client:
// the same records, workers and mix, half reads and half updates, in rounds that
// follow one another.
func BenchmarkGenerator(b *testing.B) {
	d := opened(b, sharedCluster(b), nil)
	s := mixed()
	bareOp := bare(b, d, s)
	var ours, bare float64
	for b.Loop() {
		bare += microseconds(cost(b, func(_ context.Context, n int) error { return bareOp(n/workers, n*7919) }), roundOps)
		ours += underEngine(b, s, d)
	}
	b.ReportMetric(bare/float64(b.N), "client-cpu-µs/op")
	b.ReportMetric(ours/float64(b.N), "generator-cpu-µs/op")
	b.ReportMetric(ours/bare, "generator/client")
}

// mixed is a load of half reads and half updates.
func mixed() *spec.Spec {
	return &spec.Spec{
		Seed: 1, Writer: "bench", Data: spec.Data{Keys: 10_000, ValueBytes: 256, LoadConcurrency: workers},
		Streams: []spec.Stream{{
			Name: "app", Mix: map[string]float64{"read": 1, "update": 1}, Concurrency: workers, DeadlineS: 10,
			Keys: spec.Keys{Distribution: spec.Uniform}, Retries: driver.RetriesNone,
		}},
	}
}

// bare loads the data set of s and returns an operation of the official client alone: a read of a
// record where turn is even, else an update.
func bare(b *testing.B, d *Driver, s *spec.Spec) func(turn, record int) error {
	b.Helper()
	data := engine.New(s, d, nil).Dataset()
	if err := d.Load(b.Context(), data, func(uint64, uint64) {}); err != nil {
		b.Fatal(err)
	}
	items := make([]driver.Item, data.Keys)
	for i := range items {
		items[i] = data.Item(uint64(i))
	}
	reads, writes := d.policy.reads(1), d.policy.writes()
	reads.TotalTimeout, reads.SocketTimeout = 10*time.Second, 10*time.Second
	writes.TotalTimeout, writes.SocketTimeout = 10*time.Second, 10*time.Second
	return func(turn, record int) error {
		item := &items[record%len(items)]
		key, _ := client.NewKey(d.sets.namespace, d.sets.data, item.ID)
		if turn%2 == 0 {
			_, err := d.client.Get(&reads, key)
			return orNil(err)
		}
		return orNil(d.client.PutBins(&writes, key,
			client.NewBin(binWriter, item.Record.Writer), client.NewBin(binSeq, int64(item.Record.Seq)),
			client.NewBin(binChecksum, int64(item.Record.Checksum)), client.NewBin(driver.FieldNames[0], item.Value)))
	}
}

func microseconds(used time.Duration, operations int) float64 {
	return float64(used.Nanoseconds()) / float64(operations) / 1000
}

// bareVariable asks for BenchmarkBareClient, in JSON.
const bareVariable = "BROWNOUT_BENCH_BARE"

// BenchmarkBareClient is one round of a loop around the official client on a cluster that is
// already there, for tests/bench/clients.py. Its goroutines share the rate, each sleeping until its
// next turn; without a rate they never sleep.
func BenchmarkBareClient(b *testing.B) {
	var wanted struct {
		URI                     string
		Rate, Seconds, Parallel int
	}
	if asked := os.Getenv(bareVariable); asked == "" {
		b.Skip("only where " + bareVariable + " asks for it")
	} else if err := json.Unmarshal([]byte(asked), &wanted); err != nil {
		b.Fatal(err)
	}
	operation := bare(b, drivertest.Opened(b, &Driver{}, drivertest.Config(b, wanted.URI), nil), mixed())
	var turns, failed atomic.Int64
	var every time.Duration
	if wanted.Rate > 0 {
		every = time.Duration(wanted.Parallel) * time.Second / time.Duration(wanted.Rate)
	}
	var group sync.WaitGroup
	before, start := drivertest.ProcessorTime(b), time.Now()
	end := start.Add(time.Duration(wanted.Seconds) * time.Second)
	for worker := range wanted.Parallel {
		group.Go(func() {
			due := start.Add(every * time.Duration(worker) / time.Duration(wanted.Parallel))
			for turn := worker; ; turn++ {
				time.Sleep(time.Until(due))
				if due = due.Add(every); !time.Now().Before(end) {
					return
				}
				if operation(turn, int(turns.Add(1))*7919) != nil {
					failed.Add(1)
				}
			}
		})
	}
	group.Wait()
	used := drivertest.ProcessorTime(b) - before
	b.ReportMetric(used.Seconds(), "cpu-s")
	b.ReportMetric(float64(turns.Load()-failed.Load()), "done")
	b.ReportMetric(float64(failed.Load()), "failed")
}

// underEngine is what an operation of a load of about as many operations costs, in µs.
func underEngine(b *testing.B, s *spec.Spec, d *Driver) float64 {
	b.Helper()
	directory, err := record.Create(filepath.Join(b.TempDir(), "run"))
	if err != nil {
		b.Fatal(err)
	}
	e := engine.New(s, d, func(err error) { b.Error(err) })
	e.ReportTo(directory)
	before := drivertest.ProcessorTime(b)
	if err := e.Start(time.Now().Add(engine.Lead), directory.Begin); err != nil {
		b.Fatal(err)
	}
	for ended := uint64(0); ended < roundOps; time.Sleep(5 * time.Millisecond) {
		ended = 0
		for _, counts := range e.Book().Totals() {
			ended += counts.Ended()
		}
	}
	ending, err := e.Stop()
	used := drivertest.ProcessorTime(b) - before
	if err != nil || directory.Close() != nil {
		b.Fatal(err)
	}
	if bad := ending.Counts.Ended() - ending.Counts.Ends[account.Ok]; bad > ending.Counts.Ended()/1000 {
		b.Errorf("%d of %d were not ok", bad, ending.Counts.Ended())
	}
	return microseconds(used, int(ending.Counts.Ended()))
}

// BenchmarkCondition: "generation" is what nearly every write carries, "content" what one carries after
// a write in doubt.
func BenchmarkCondition(b *testing.B) {
	c := sharedCluster(b)
	drivertest.BenchConditions(b, opened(b, c, nil), c.nodes[0].PID(), map[string]func(driver.Known) *driver.Known{
		"generation": func(known driver.Known) *driver.Known { return &known },
		"content":    func(known driver.Known) *driver.Known { return &driver.Known{First: known.First, Last: known.Last} },
	})
}
