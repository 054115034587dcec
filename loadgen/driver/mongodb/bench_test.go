package mongodb

import (
	"context"
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
