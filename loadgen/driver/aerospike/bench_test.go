package aerospike

import (
	"context"
	"syscall"
	"testing"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
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
				client.NewBin(binChecksum, int64(op.Record.Checksum)), client.NewBin(binValue, op.Value)))
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
