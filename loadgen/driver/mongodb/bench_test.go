package mongodb

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
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
	ledger := d.streams[1].writes.ledger
	cases := []struct {
		name string
		run  func(context.Context) error
	}{
		{"read/driver", func(context.Context) error { _, err := drivertest.Through(d, lookup); return err }},
		{"read/client", func(ctx context.Context) error { return ledger.FindOne(ctx, byID(op.ID)).Err() }},
		{"update/driver", func(context.Context) error { _, err := drivertest.Through(d, op); return err }},
		{"update/client", func(ctx context.Context) error {
			_, err := ledger.ReplaceOne(ctx, byID(op.ID), document(op.ID, op.Record, op.Value, 1),
				options.Replace().SetUpsert(true))
			return err
		}},
	}
	for _, test := range cases {
		b.Run(test.name, func(b *testing.B) {
			b.SetParallelism(32)
			before := drivertest.ProcessorTime(b)
			b.RunParallel(func(loop *testing.PB) {
				for loop.Next() {
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
					if err := test.run(ctx); err != nil {
						b.Error(err)
					}
					cancel()
				}
			})
			b.ReportMetric(float64((drivertest.ProcessorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// BenchmarkCondition: "sequence" is what nearly every write carries, "range" what one carries after a
// write in doubt.
func BenchmarkCondition(b *testing.B) {
	server := sharedMongod(b)
	d := opened(b, server, func(c *driver.Config) {
		c.Options = map[string]any{"write_concern": "1"}
	})
	drivertest.BenchConditions(b, d, server.PID(), map[string]func(driver.Known) *driver.Known{
		"sequence": func(known driver.Known) *driver.Known { return &known },
		"range":    func(known driver.Known) *driver.Known { return &driver.Known{First: known.First, Last: known.Last + 1} },
	})
}
