package aerospike

import (
	"context"
	"path/filepath"
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
			b.ReportMetric(float64(bare.Nanoseconds())/float64(b.N*roundOps)/1000, "client-cpu-µs/op")
			b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N*roundOps)/1000, "driver-cpu-µs/op")
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
	s := &spec.Spec{
		Seed: 1, Writer: "bench", Data: spec.Data{Keys: 10_000, ValueBytes: 256, LoadConcurrency: workers},
		Streams: []spec.Stream{{
			Name: "app", Mix: map[string]float64{"read": 1, "update": 1}, Concurrency: workers, DeadlineS: 10,
			Keys: spec.Keys{Distribution: spec.Uniform}, Retries: driver.RetriesNone,
		}},
	}
	data := engine.New(s, d, nil).Dataset()
	if err := d.Load(b.Context(), data, func(uint64, uint64) {}); err != nil {
		b.Fatal(err)
	}
	items := make([]driver.Item, data.Keys)
	for i := range items {
		items[i] = data.Item(uint64(i))
	}
	var ours, bare float64
	for b.Loop() {
		bare += bareLoop(b, d, items)
		ours += underEngine(b, s, d)
	}
	b.ReportMetric(bare/float64(b.N), "client-cpu-µs/op")
	b.ReportMetric(ours/float64(b.N), "generator-cpu-µs/op")
	b.ReportMetric(ours/bare, "generator/client")
}

// bareLoop is what an operation of a loop around the client costs, in µs.
func bareLoop(b *testing.B, d *Driver, items []driver.Item) float64 {
	b.Helper()
	reads, writes := d.policy.reads(1), d.policy.writes()
	reads.TotalTimeout, reads.SocketTimeout = 10*time.Second, 10*time.Second
	writes.TotalTimeout, writes.SocketTimeout = 10*time.Second, 10*time.Second
	used := cost(b, func(_ context.Context, n int) error {
		item := &items[n*7919%len(items)]
		key, _ := client.NewKey(d.sets.namespace, d.sets.data, item.ID)
		if n/workers%2 == 0 {
			_, err := d.client.Get(&reads, key)
			return orNil(err)
		}
		return orNil(d.client.PutBins(&writes, key,
			client.NewBin(binWriter, item.Record.Writer), client.NewBin(binSeq, int64(item.Record.Seq)),
			client.NewBin(binChecksum, int64(item.Record.Checksum)), client.NewBin(driver.FieldNames[0], item.Value)))
	})
	return float64(used.Nanoseconds()) / roundOps / 1000
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
	return float64(used.Nanoseconds()) / float64(ending.Counts.Ended()) / 1000
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
