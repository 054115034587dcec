package mongodb

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
)

// BenchmarkOperation compares what an operation costs through this driver with
// the same operation by the official client alone: processor time of this
// process, per operation, with 32 at a time.
func BenchmarkOperation(b *testing.B) {
	d := opened(b, sharedMongod(b), func(c *driver.Config) {
		c.Options = map[string]any{"write_concern": "1"}
	})
	op := update("0123456789abcdef0123456789abcdef")
	do(b, d, op)
	lookup := driver.Op{Kind: driver.Read, Stream: 1, ID: op.ID, Verified: true}
	ledger := d.streams[1].ledger
	cases := []struct {
		name string
		run  func(context.Context) error
	}{
		{"read/driver", func(ctx context.Context) error { return failure(d.Do(ctx, &lookup)) }},
		{"read/client", func(ctx context.Context) error { return ledger.FindOne(ctx, byID(op.ID)).Err() }},
		{"update/driver", func(ctx context.Context) error { return failure(d.Do(ctx, &op)) }},
		{"update/client", func(ctx context.Context) error {
			_, err := ledger.ReplaceOne(ctx, byID(op.ID), document(op.ID, op.Record, op.Value, 1),
				options.Replace().SetUpsert(true))
			return err
		}},
	}
	for _, test := range cases {
		b.Run(test.name, func(b *testing.B) {
			b.SetParallelism(32)
			before := processorTime(b)
			b.RunParallel(func(loop *testing.PB) {
				for loop.Next() {
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
					if err := test.run(ctx); err != nil {
						b.Error(err)
					}
					cancel()
				}
			})
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

type unexpected struct{ driver.Result }

func (u unexpected) Error() string { return string(u.Cause) + " " + u.Code }

func failure(result driver.Result) error {
	if result.Class != driver.OK {
		return unexpected{result}
	}
	return nil
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkCondition compares writes with a condition with the same ones without it, which write
// over whatever is there, in turns: processor time of this process and of the server for each write,
// with 32 at a time on keys of their own. "sequence" is what nearly every write carries, "range"
// what one carries after a write in doubt.
func BenchmarkCondition(b *testing.B) {
	d := opened(b, sharedMongod(b), func(c *driver.Config) {
		c.Options = map[string]any{"write_concern": "1"}
	})
	for _, kind := range []driver.Kind{driver.Update, driver.Increment} {
		blind := newWriters(d, kind, func(*driver.Known) *driver.Known { return nil })
		bySequence := newWriters(d, kind, func(known *driver.Known) *driver.Known { return known })
		byRange := newWriters(d, kind, func(known *driver.Known) *driver.Known {
			return &driver.Known{First: known.First, Last: known.Last + 1}
		})
		b.Run(kind.String(), func(b *testing.B) {
			server := sharedMongod(b).process.Process.Pid
			var took [3]time.Duration
			for b.Loop() {
				for i, all := range []*writersOf{blind, bySequence, byRange} {
					took[i] += all.round(b, server)
				}
			}
			b.ReportMetric(float64(took[0].Microseconds())/float64(b.N*conditionOps), "blind-cpu-µs/op")
			b.ReportMetric(float64(took[1])/float64(took[0]), "sequence/blind")
			b.ReportMetric(float64(took[2])/float64(took[0]), "range/blind")
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
		all.ops[i] = update("0123456789abcdef0123456789abcdef")
		all.ops[i].ID = driver.LedgerID("orders", false, uint64(100_000+benchKeys))
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
