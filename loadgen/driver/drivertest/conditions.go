package drivertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"brownout/loadgen/driver"
)

// BenchConditions compares writes with a condition with the same ones without it, which write over
// whatever is there, in turns: processor time of this process and of the server's for each write, with
// 32 at a time on keys of their own. Each way makes a condition of what is known.
func BenchConditions(b *testing.B, d driver.Driver, server int, ways map[string]func(driver.Known) *driver.Known) {
	for _, kind := range []driver.Kind{driver.Update, driver.Increment} {
		blind := newWriters(d, kind, func(driver.Known) *driver.Known { return nil })
		writers := map[string]*writersOf{}
		for name, way := range ways {
			writers[name] = newWriters(d, kind, way)
		}
		b.Run(kind.String(), func(b *testing.B) {
			var without time.Duration
			took := map[string]time.Duration{}
			for b.Loop() {
				without += blind.round(b, server)
				for name, all := range writers {
					took[name] += all.round(b, server)
				}
			}
			b.ReportMetric(float64(without.Microseconds())/float64(b.N*conditionOps), "blind-cpu-µs/op")
			for name, with := range took {
				b.ReportMetric(float64(with)/float64(without), name+"/blind")
			}
		})
	}
}

// writersOf are 32 writers, each of a key of its own.
type writersOf struct {
	d     driver.Driver
	ops   [32]driver.Op
	known [32]driver.Known
	with  func(driver.Known) *driver.Known
}

var benchKeys uint64

func newWriters(d driver.Driver, kind driver.Kind, with func(driver.Known) *driver.Known) *writersOf {
	all := &writersOf{d: d, with: with}
	for i := range all.ops {
		benchKeys++
		all.ops[i] = Update(100_000+benchKeys, "0123456789abcdef0123456789abcdef")
		all.ops[i].Kind, all.known[i].Create = kind, true
	}
	return all
}

// conditionOps is the length of a round.
const conditionOps = 3200

// round does a round of writes, shared out between the writers, and returns what it cost.
func (all *writersOf) round(b *testing.B, server int) time.Duration {
	b.Helper()
	before := ProcessorTime(b) + timeOf(b, server)
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
	return ProcessorTime(b) + timeOf(b, server) - before
}

func (all *writersOf) write(i int) error {
	op, known := all.ops[i], &all.known[i]
	op.Known = all.with(*known)
	if known.Create {
		op.Known = known
	}
	op.Record = driver.NewRecord(RunID, op.ID, uint64(known.First+1), op.Value)
	result, err := Through(all.d, op)
	*known = driver.Known{First: known.First + 1, Last: known.First + 1, Generation: result.Generation}
	return err
}

// Through does an operation as the engine does, its lane included; what is not done is an error.
func Through(d driver.Driver, op driver.Op) (driver.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	d.Lane(&op)
	result := d.Do(ctx, &op)
	if result.Class != driver.OK {
		return result, errors.New(string(result.Cause) + " " + result.Code)
	}
	return result, nil
}

// ProcessorTime is that of this process.
func ProcessorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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
