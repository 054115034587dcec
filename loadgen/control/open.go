package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"brownout/loadgen/client"
	"brownout/loadgen/driver"
	"brownout/loadgen/engine"
	"brownout/loadgen/metrics"
	"brownout/loadgen/record"
	"brownout/loadgen/spec"
	"brownout/loadgen/vote"
	"brownout/loadgen/web"
)

// errOrder is a command that does not fit what came before it.
type errOrder struct{ message, hint string }

func (e *errOrder) Error() string { return e.message }
func (e *errOrder) Hint() string  { return e.hint }

// fatal returns the exit code of an error after which the session cannot continue.
func fatal(err error) (code int, exit bool) {
	var problems spec.Problems
	var disk *record.Error
	switch {
	case errors.As(err, &problems):
		return ExitBadSpec, true
	case errors.As(err, &disk):
		return ExitNoDisk, true
	}
	return 0, false
}

// open checks the spec, connects, and makes the run directory.
func (s *Session) open(ctx context.Context, c command) error {
	if s.engine != nil {
		return &errOrder{"a load is open already", "start another generator"}
	}
	wanted, err := spec.Parse(c.Spec)
	if err != nil {
		return err
	}
	s.secrets.Store(secretsOf(&wanted.Connection))
	if err := s.connect(ctx, wanted); err != nil {
		return err
	}
	if s.directory, err = record.Create(wanted.Dir); err != nil {
		return err
	}
	s.spec, s.settings = wanted, scrubbed(s.driver.Settings(), s.secrets.Load())
	return s.prepare()
}

func (s *Session) connect(ctx context.Context, wanted *spec.Spec) error {
	plain, err := driver.New(wanted.Driver)
	if err != nil {
		return err
	}
	d := client.Wrap(web.Wrap(vote.Wrap(plain, wanted), wanted), wanted)
	if err := d.Open(ctx, wanted.DriverConfig()); err != nil {
		d.Close()
		return err
	}
	s.driver = d
	return nil
}

// prepare makes the engine and its sinks.
func (s *Session) prepare() error {
	s.engine = engine.New(s.spec, s.driver, func(err error) { s.broken <- err })
	exporter := metrics.NewExporter(s.engine.Book())
	s.engine.ReportTo(s.directory, exporter, newLive(s.out))
	labels := map[string]string{"run": s.spec.Writer}
	maps.Copy(labels, s.spec.Labels)
	s.page.Store(metrics.NewPage(labels, exporter))
	s.out.send(named("opened", event{"driver_settings": s.settings, "lane_cap": s.laneCap()}))
	return nil
}

func (s *Session) laneCap() int {
	if s.spec.LaneCap > 0 {
		return s.spec.LaneCap
	}
	return s.driver.LaneCap()
}

// load writes the data set, or does one step of that.
func (s *Session) load(ctx context.Context, c command) error {
	if s.engine == nil || s.started() {
		return &errOrder{"there is nothing to load now", "send `open` first, and `load` before `start`"}
	}
	begun := time.Now()
	report := s.progress("loading")
	data := s.engine.Dataset()
	step, err := driver.ParseStep(c.Step)
	if err != nil {
		return err
	}
	data.Step = step
	if err := s.driver.Load(ctx, data, report); err != nil {
		return err
	}
	if err := s.loadDocuments(ctx, step); err != nil {
		return err
	}
	s.loaded = s.loaded || step == driver.LoadWhole || step == driver.LoadFill
	s.out.send(named("loaded", event{"keys": data.Total(), "seconds": seconds(time.Since(begun))}))
	return nil
}

// loadDocuments makes room for the documents of the load, if it writes any, and writes
// those that it begins with.
func (s *Session) loadDocuments(ctx context.Context, step driver.Step) error {
	if !s.spec.WritesDocuments() || step == driver.LoadEnd {
		return nil
	}
	keeper, ok := driver.As[driver.KeepsDocuments](s.driver)
	if !ok {
		return &errOrder{"the driver " + s.spec.Driver + " keeps no documents", "choose another workload for it"}
	}
	if step != driver.LoadFill {
		if err := keeper.EmptyDocuments(ctx); err != nil || step == driver.LoadBegin {
			return err
		}
	}
	return s.engine.Preload(ctx, s.progress("loading"))
}

// progress returns a function that tells how far something is, now and then.
func (s *Session) progress(name string) func(done, total uint64) {
	var mu sync.Mutex
	var last time.Time
	return func(done, total uint64) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) < 250*time.Millisecond && done < total {
			return
		}
		last = time.Now()
		s.out.offer(named(name, event{"done": done, "total": total}))
	}
}

// latest is how far ahead a start may be told.
const latest = time.Minute

// startOf is when the schedule is to begin: at the moment that the command names, on the
// process's own clock, so that several generators begin together; or in a moment.
func (s *Session) startOf(c command) (t0 time.Time, err error) {
	if c.At == nil {
		return time.Now().Add(engine.Lead), nil
	}
	t0 = s.born.Add(time.Duration(*c.At * float64(time.Second)))
	if left := time.Until(t0); left < 0 || left > latest {
		return t0, &errOrder{
			fmt.Sprintf("the moment to start is %.3f s ahead (wanted 0 to %v)", left.Seconds(), latest),
			"send `start` again, with a moment that is still to come",
		}
	}
	return t0, nil
}

// start begins the schedule.
func (s *Session) start(_ context.Context, c command) error {
	if s.engine == nil || s.started() {
		return &errOrder{"there is nothing to start", "send `open` first, and `start` once"}
	}
	if s.spec.Data.Load && !s.loaded {
		return &errOrder{"the data set is not loaded", "send `load` first"}
	}
	t0, err := s.startOf(c)
	if err != nil {
		return err
	}
	if err := s.engine.Start(t0, s.begin); err != nil {
		return err
	}
	s.calmed = calmSysmon(s.spec)
	late := time.Since(t0)
	s.clock.Lock()
	s.t0 = t0
	s.clock.Unlock()
	s.out.send(named("started", event{"t0_unix_ns": t0.UnixNano(), "late_s": late.Seconds()}))
	return nil
}

// begin writes down when the schedule begins.
func (s *Session) begin(t0 time.Time) error {
	summary := s.summary(t0)
	if err := s.directory.WriteSummary(&summary); err != nil {
		return err
	}
	return s.directory.Begin(t0)
}
