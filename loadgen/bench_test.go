package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/engine"
	"brownout/loadgen/engine/account"
	"brownout/loadgen/record"
	"brownout/loadgen/spec"
)

// asCommand makes the test binary behave like the command itself, so that the
// server's work is not part of what is measured.
const asCommand = "BROWNOUT_LOADGEN_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(command(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// served starts a scripted server of its own process and returns its address.
func served(b *testing.B, script string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "script.yaml")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		b.Fatal(err)
	}
	server := exec.Command(os.Args[0], "serve", path)
	server.Env = append(os.Environ(), asCommand+"=1")
	out, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	})
	var serving struct{ Address string }
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &serving) != nil {
		b.Fatalf("the server said %q, %v", line, err)
	}
	return serving.Address
}

func benchSpec(b *testing.B, address string, change func(*spec.Stream)) *spec.Spec {
	b.Helper()
	s := &spec.Spec{
		Schema: 1, Seed: 1, Writer: "bench", Driver: "scripted", Namespace: "bench",
		Connection: spec.Connection{URI: "scripted://" + address},
		Data:       spec.Data{Keys: 10_000, ValueBytes: 256, Load: true, LoadConcurrency: 32},
		Streams: []spec.Stream{{
			Name: "app", Mix: map[string]float64{"read": 0.5, "update": 0.5}, DeadlineS: 1,
			Keys: spec.Keys{Distribution: spec.Uniform}, Arrivals: spec.Constant, Retries: "none",
		}},
	}
	change(&s.Streams[0])
	return s
}

func opened(b *testing.B, s *spec.Spec) driver.Driver {
	b.Helper()
	d, err := driver.New(s.Driver)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(d.Close)
	if err := d.Open(context.Background(), s.DriverConfig()); err != nil {
		b.Fatal(err)
	}
	data := engine.New(s, d, func(error) {}).Dataset()
	if err := d.Load(context.Background(), data, func(uint64, uint64) {}); err != nil {
		b.Fatal(err)
	}
	return d
}

func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// bareLoop does operations as fast as workers of the plain driver can, and
// returns how many per CPU-second.
func bareLoop(b *testing.B, d driver.Driver, workers int, length time.Duration) float64 {
	b.Helper()
	var done atomic.Int64
	var group sync.WaitGroup
	value, before, start := make([]byte, 256), cpuSeconds(b), time.Now()
	for worker := range workers {
		group.Go(func() {
			for i := worker; time.Since(start) < length; i++ {
				op := driver.Op{Kind: driver.Read, ID: driver.DataID(uint64(i % 10_000))}
				if i%2 == 0 {
					op.Kind, op.Value = driver.Update, value
					op.Record = driver.NewRecord("bench", op.ID, 0, value)
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				if d.Do(ctx, &op).Class != driver.OK {
					b.Error("an operation failed")
				}
				cancel()
				done.Add(1)
			}
		})
	}
	group.Wait()
	return float64(done.Load()) / (cpuSeconds(b) - before)
}

// underEngine runs a load, files and all, and returns its ending and how many
// operations were done per CPU-second.
func underEngine(b *testing.B, s *spec.Spec, d driver.Driver, length time.Duration) (engine.Ending, float64) {
	b.Helper()
	directory, err := record.Create(filepath.Join(b.TempDir(), strconv.FormatInt(time.Now().UnixNano(), 36)))
	if err != nil {
		b.Fatal(err)
	}
	e := engine.New(s, d, func(err error) { b.Error(err) })
	e.ReportTo(directory)
	before := cpuSeconds(b)
	if err := e.Start(time.Now().Add(engine.Lead), directory.Begin); err != nil {
		b.Fatal(err)
	}
	time.Sleep(length)
	ending, err := e.Stop()
	if err != nil || ending.Violations > 0 {
		b.Fatalf("%+v, %v", ending, err)
	}
	used := cpuSeconds(b) - before
	if err := directory.Close(); err != nil {
		b.Fatal(err)
	}
	return ending, float64(ending.Counts.Ended()) / used
}

// BenchmarkAgainstBareLoop compares the engine, with schedule, lanes, accounts,
// histograms and files, with the driver alone: the same driver, number of
// workers and server, one after the other.
func BenchmarkAgainstBareLoop(b *testing.B) {
	const workers = 64
	address := served(b, "latency_ms: 0")
	s := benchSpec(b, address, func(s *spec.Stream) { s.Concurrency = workers })
	d := opened(b, s)
	var bare, ours float64
	n := 0
	for b.Loop() {
		bare += bareLoop(b, d, workers, time.Second)
		_, per := underEngine(b, s, d, time.Second)
		ours += per
		n++
	}
	b.ReportMetric(bare/float64(n), "bare-ops/cpu-s")
	b.ReportMetric(ours/float64(n), "engine-ops/cpu-s")
	b.ReportMetric(ours/bare, "engine/bare")
}

// BenchmarkEngineAlone measures what an operation costs without any network:
// the driver answers at once.
func BenchmarkEngineAlone(b *testing.B) {
	s := benchSpec(b, "", func(s *spec.Stream) { s.Concurrency = 16 })
	var per, allocations float64
	for b.Loop() {
		before := mallocs()
		var ending engine.Ending
		ending, per = underEngine(b, s, &drivertest.Fake{}, time.Second)
		allocations = float64(mallocs()-before) / float64(ending.Counts.Ended())
	}
	b.ReportMetric(per, "engine-ops/cpu-s")
	b.ReportMetric(allocations, "allocations/operation")
}

// registers is a database that answers at once and keeps the record of each key.
func registers() func(context.Context, *driver.Op) driver.Result {
	var records sync.Map
	return func(_ context.Context, op *driver.Op) driver.Result {
		result := drivertest.OK()
		if op.Kind.Write() {
			records.Store(op.ID, op.Record)
		} else if stored, is := records.Load(op.ID); is {
			stored := stored.(driver.Record)
			result.Record = &stored
		}
		return result
	}
}

// BenchmarkCheckedReads compares reads of a verified stream that return a record, each of which is
// held against the ledger, with reads that return none.
func BenchmarkCheckedReads(b *testing.B) {
	s := benchSpec(b, "", func(s *spec.Stream) {
		s.Concurrency, s.Verified, s.LedgerKeys, s.Reads = 16, true, 10_000, spec.Linearizable
	})
	var checked, unchecked float64
	for b.Loop() {
		answer := registers()
		_, checked = underEngine(b, s, &drivertest.Fake{Answer: answer}, time.Second)
		blind := func(ctx context.Context, op *driver.Op) driver.Result {
			result := answer(ctx, op)
			result.Record = nil
			return result
		}
		_, unchecked = underEngine(b, s, &drivertest.Fake{Answer: blind}, time.Second)
	}
	b.ReportMetric(checked, "engine-ops/cpu-s")
	b.ReportMetric(checked/unchecked, "checked/unchecked")
}

// BenchmarkHistory compares a stream whose history is kept with the same one without.
func BenchmarkHistory(b *testing.B) {
	var kept, without float64
	for b.Loop() {
		for _, linearizable := range []bool{false, true} {
			s := benchSpec(b, "", func(s *spec.Stream) {
				s.Rate, s.Verified, s.LedgerKeys, s.Reads = 1000, true, 1000, spec.Linearizable
				s.Linearizable = linearizable
			})
			_, per := underEngine(b, s, &drivertest.Fake{Answer: registers()}, 3*time.Second)
			if linearizable {
				kept += per
			} else {
				without += per
			}
		}
	}
	b.ReportMetric(kept/without, "kept/without")
}

func mallocs() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Mallocs
}

// BenchmarkOpenLoop measures what scheduled operations cost, and how late the
// scheduler is.
func BenchmarkOpenLoop(b *testing.B) {
	for _, rate := range []float64{1000, 5000, 20_000} {
		b.Run(strconv.FormatFloat(rate, 'f', 0, 64)+"/s", func(b *testing.B) {
			address := served(b, "latency_ms: 0")
			s := benchSpec(b, address, func(s *spec.Stream) { s.Rate = rate })
			d := opened(b, s)
			var ending engine.Ending
			var per float64
			for b.Loop() {
				ending, per = underEngine(b, s, d, 2*time.Second)
			}
			b.ReportMetric(per, "engine-ops/cpu-s")
			b.ReportMetric(float64(ending.LagP99.Microseconds()), "lag-p99-µs")
			b.ReportMetric(float64(ending.Counts.Ends[account.Missed]), "missed")
		})
	}
}
