package aerospike

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
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
	return func(ctx context.Context, n int) error {
		op := ops[n%len(ops)]
		d.Lane(&op)
		if result := d.Do(ctx, &op); result.Class != driver.OK {
			return unexpected{result}
		}
		return nil
	}
}

// orNil keeps a nil of the client's own type from becoming an error.
func orNil(err client.Error) error {
	if err == nil {
		return nil
	}
	return err
}

type unexpected struct{ driver.Result }

func (u unexpected) Error() string { return string(u.Cause) + " " + u.Code }

// roundOps is the length of a round; workers how many do it.
const (
	roundOps = 20_000
	workers  = 32
)

// cost is the processor time of one round.
func cost(b *testing.B, run func(context.Context, int) error) time.Duration {
	b.Helper()
	before, done := processorTime(b), make(chan struct{})
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
	return processorTime(b) - before
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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
	before := processorTime(b)
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
	used := processorTime(b) - before
	if err != nil || directory.Close() != nil {
		b.Fatal(err)
	}
	if bad := ending.Counts.Ended() - ending.Counts.Ends[account.Ok]; bad > ending.Counts.Ended()/1000 {
		b.Errorf("%d of %d were not ok", bad, ending.Counts.Ended())
	}
	return float64(used.Nanoseconds()) / float64(ending.Counts.Ended()) / 1000
}

// BenchmarkCondition compares writes with a condition with the same ones without it, which write
// over whatever is there, in turns: processor time of this process and of the server for each write,
// with 32 at a time on keys of their own. "generation" is what nearly every write carries, "content"
// what one carries after a write in doubt.
func BenchmarkCondition(b *testing.B) {
	d := opened(b, sharedCluster(b), nil)
	for _, kind := range []driver.Kind{driver.Update, driver.Increment} {
		blind := newWriters(d, kind, func(*driver.Known) *driver.Known { return nil })
		byGeneration := newWriters(d, kind, func(known *driver.Known) *driver.Known { return known })
		byContent := newWriters(d, kind, func(known *driver.Known) *driver.Known {
			return &driver.Known{First: known.First, Last: known.Last}
		})
		b.Run(kind.String(), func(b *testing.B) {
			server := sharedCluster(b).nodes[0].process.Process.Pid
			var took [3]time.Duration
			for b.Loop() {
				for i, all := range []*writersOf{blind, byGeneration, byContent} {
					took[i] += all.round(b, server)
				}
			}
			b.ReportMetric(float64(took[0].Microseconds())/float64(b.N*conditionOps), "blind-cpu-µs/op")
			b.ReportMetric(float64(took[1])/float64(took[0]), "generation/blind")
			b.ReportMetric(float64(took[2])/float64(took[0]), "content/blind")
		})
	}
}

// writersOf are 32 writers, each of a key of its own.
type writersOf struct {
	d     *Driver
	ops   [32]driver.Op
	known [32]driver.Known
	with  func(*driver.Known) *driver.Known
}

var benchKeys int

func newWriters(d *Driver, kind driver.Kind, with func(*driver.Known) *driver.Known) *writersOf {
	all := &writersOf{d: d, with: with}
	for i := range all.ops {
		benchKeys++
		all.ops[i] = update(uint64(100_000+benchKeys), "0123456789abcdef0123456789abcdef")
		all.ops[i].Kind, all.known[i].Create = kind, true
	}
	return all
}

// conditionOps is the length of a round of these.
const conditionOps = 3200

// round does a round of writes, shared out between the writers, and returns what it cost.
func (all *writersOf) round(b *testing.B, server int) time.Duration {
	b.Helper()
	before := processorTime(b) + timeOf(b, server)
	var group sync.WaitGroup
	for i := range all.ops {
		group.Go(func() {
			for range conditionOps / len(all.ops) {
				if err := all.write(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return processorTime(b) + timeOf(b, server) - before
}

// timeOf is the processor time of a process, in hundredths of a second.
func timeOf(b *testing.B, process int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

func (all *writersOf) write(i int) error {
	op, known := all.ops[i], &all.known[i]
	op.Known = all.with(known)
	if known.Create {
		op.Known = known
	}
	op.Record = driver.NewRecord("run-1", op.ID, uint64(known.First+1), op.Value)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	all.d.Lane(&op)
	result := all.d.Do(ctx, &op)
	if result.Class != driver.OK {
		return unexpected{result}
	}
	*known = driver.Known{First: known.First + 1, Last: known.First + 1, Generation: result.Generation}
	return nil
}
