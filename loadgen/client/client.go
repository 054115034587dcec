package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/spec"
)

// Driver does the operations of the streams that name a client by it, and all others by the driver
// that it is around.
type Driver struct {
	driver.Driver
	spec    *spec.Spec
	streams map[int]*stream
}

// stream is one that names a client.
type stream struct {
	spec    *spec.Stream
	process *process
	next    atomic.Uint64

	mu    sync.Mutex
	codes map[string]bool
}

const (
	// mostCodes is how many codes of a client's are counted apart.
	mostCodes   = 50
	longestCode = 64
	// readers is how many keys are loaded or read back at a time.
	readers = 16
	// patience is how long what is not part of the load may take.
	patience = 30 * time.Second
)

// Wrap gives a driver the clients that streams name. A specification without any leaves it as it is.
func Wrap(d driver.Driver, s *spec.Spec) driver.Driver {
	streams := map[int]*stream{}
	for i := range s.Streams {
		if s.Streams[i].Client != nil {
			streams[i] = &stream{spec: &s.Streams[i], codes: map[string]bool{}}
		}
	}
	if len(streams) == 0 {
		return d
	}
	return &Driver{Driver: d, spec: s, streams: streams}
}

// Unwrap returns the driver of the other streams.
func (d *Driver) Unwrap() driver.Driver { return d.Driver }

// Open connects the driver and starts the clients. A client's deadline is not the driver's: that would
// have servers work on statements for so long.
func (d *Driver) Open(ctx context.Context, config driver.Config) error {
	own := config
	own.Streams = slices.Clone(config.Streams)
	for i := range own.Streams {
		if d.streams[i] != nil && len(d.streams) < len(own.Streams) {
			own.Streams[i].DeadlineS = 0
		}
	}
	if err := d.Driver.Open(ctx, own); err != nil {
		return err
	}
	database, _ := d.spec.Options["database"].(string)
	for _, i := range slices.Sorted(maps.Keys(d.streams)) {
		s := d.streams[i]
		options := s.spec.Client.Options
		if options == nil {
			options = map[string]any{}
		}
		started, err := start(ctx, s.spec.Client.Command, request{
			Do: doOpen, Version: version, Namespace: config.Namespace, Run: config.Writer, Stream: s.spec.Name,
			Connection: &connection{&d.spec.Connection, database}, Options: options,
		})
		if err != nil {
			return fmt.Errorf("stream %q: %w", s.spec.Name, err)
		}
		s.process = started
	}
	return nil
}

// Settings are the driver's, and what each client says of itself.
func (d *Driver) Settings() map[string]any {
	all := maps.Clone(d.Driver.Settings())
	clients := map[string]any{}
	for _, s := range d.streams {
		clients[s.spec.Name] = map[string]any{
			"command": s.spec.Client.Command, "name": s.process.opened.Opened, "settings": s.process.opened.Settings,
		}
	}
	all["clients"] = clients
	return all
}

// Lane names the client, whatever server it chooses.
func (d *Driver) Lane(op *driver.Op) string {
	if s := d.streams[op.Stream]; s != nil {
		return "client " + s.spec.Name
	}
	return d.Driver.Lane(op)
}

// InDoubtFor is the longer one of the driver's and of the clients' deadlines.
func (d *Driver) InDoubtFor() time.Duration {
	longest := d.Driver.InDoubtFor()
	for i := range d.streams {
		longest = max(longest, d.InDoubtOf(i))
	}
	return longest
}

// InDoubtOf is the deadline of a client's stream, and of others what their driver says.
func (d *Driver) InDoubtOf(stream int) time.Duration {
	if s := d.streams[stream]; s != nil {
		return time.Duration(s.spec.DeadlineS * float64(time.Second))
	}
	return d.Driver.InDoubtFor()
}

// Do does one operation.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	s := d.streams[op.Stream]
	if s == nil {
		return d.Driver.Do(ctx, op)
	}
	r := request{Do: doRead, Key: op.ID}
	if op.Kind.Write() {
		r = writeOf(op.ID, op.Record, op.Value)
		if known := op.Known; known != nil && !s.spec.Client.WriteOnce {
			r.Expect = &expect{Missing: known.Create, First: known.First, Last: known.Last}
		}
	}
	return s.result(op, r, ctx)
}

func writeOf(id string, record driver.Record, value []byte) request {
	return request{Do: doWrite, Key: id, Writer: record.Writer, Sequence: record.Seq, Value: stored(record, value)}
}

func (s *stream) ask(ctx context.Context, r request) (answer, bool, error) {
	r.ID = s.next.Add(1)
	return s.process.ask(ctx, r)
}

// result asks, and tells what became of it.
func (s *stream) result(op *driver.Op, r request, ctx context.Context) driver.Result {
	got, sent, err := s.ask(ctx, r)
	result := driver.Result{Sent: sent, Attempts: 1}
	unknown := driver.Failed
	if sent && op.Kind.Write() {
		unknown = driver.InDoubt
	}
	switch {
	case errors.Is(err, errDown):
		result.Class, result.Cause, result.Code = driver.Failed, driver.CauseConnectRefused, "client is down"
		return result
	case errors.Is(err, errEnded):
		result.Class, result.Cause, result.Code = unknown, driver.CauseConnectionReset, "client ended"
		return result
	case err != nil:
		result.Class, result.Cause, result.Code = unknown, driver.CauseTotalTimeout, "no answer"
		return result
	}
	switch got.End {
	case endOK:
		if op.Kind.Write() {
			result.Found = true
			return result
		}
		if got.Value == nil {
			return result
		}
		return result.Holding(takeApart(op.ID, *got.Value))
	case endRefused:
		back := readBack(op.ID, got.Value)
		return driver.Refused(op, &back)
	case endFailed:
		result.Class = driver.Failed
	case endInDoubt:
		result.Class = unknown
	default:
		result.Class, result.Cause, result.Code = unknown, driver.CauseOther, "not an end"
		return result
	}
	result.Cause, result.Code = causeOf(got.Cause), s.codeOf(got.Code)
	return result
}

// codeOf keeps the codes few, since each is counted.
func (s *stream) codeOf(given code) string {
	code := strings.Map(func(r rune) rune {
		if r < ' ' || r == ',' || r == '"' {
			return ' '
		}
		return r
	}, string(given))
	if len(code) > longestCode {
		code = code[:longestCode]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.codes[code] && len(s.codes) >= mostCodes {
		return "one of many"
	}
	s.codes[code] = true
	return code
}

// Load has the driver load all that is its own, and each client the keys of its stream's ledger.
func (d *Driver) Load(ctx context.Context, data driver.Dataset, progress func(done, total uint64)) error {
	var ours []driver.LedgerSet
	own := data
	own.Ledger = nil
	for _, set := range data.Ledger {
		if d.streams[set.Stream] != nil {
			ours = append(ours, set)
		} else {
			own.Ledger = append(own.Ledger, set)
		}
	}
	if err := d.Driver.Load(ctx, own, func(done, _ uint64) { progress(done, data.Total()) }); err != nil {
		return err
	}
	if data.Step != driver.LoadWhole && data.Step != driver.LoadFill {
		return nil
	}
	done := own.Total()
	for _, set := range ours {
		if err := d.streams[set.Stream].load(ctx, data, set); err != nil {
			return fmt.Errorf("stream %q: its client could not load the keys: %w", set.Name, err)
		}
		done += set.Keys
		progress(done, data.Total())
	}
	return nil
}

func (s *stream) load(ctx context.Context, data driver.Dataset, set driver.LedgerSet) error {
	first, limit := data.Share.Range(0, set.Keys)
	return driver.InBatches(ctx, readers, first, limit, 1, func(ctx context.Context, key, _ uint64) error {
		value, _ := data.LedgerValue(set.Stream, key)
		id := driver.LedgerID(set.Name, false, key)
		return s.must(ctx, writeOf(id, driver.NewRecord(data.Writer, id, 1, value), value))
	})
}

// must asks for something that has to end well.
func (s *stream) must(ctx context.Context, r request) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	got, _, err := s.ask(ctx, r)
	if err == nil && got.End != endOK {
		err = fmt.Errorf("it ended as %q: %s %s", got.End, got.Cause, got.Code)
	}
	return err
}

// ReadBack has each client read the keys of its stream.
func (d *Driver) ReadBack(
	ctx context.Context, verified bool, ids []string, counter bool, each func(driver.ReadBack),
) error {
	of := map[string]*stream{}
	for _, s := range d.streams {
		of[s.spec.Name] = s
	}
	var own []string
	var theirs []string
	for _, id := range ids {
		name, _, _ := strings.Cut(id, ":")
		if verified && of[name] != nil {
			theirs = append(theirs, id)
		} else {
			own = append(own, id)
		}
	}
	if len(own) > 0 || len(theirs) == 0 {
		if err := d.Driver.ReadBack(ctx, verified, own, counter, each); err != nil {
			return err
		}
	}
	return driver.InBatches(ctx, readers, 0, uint64(len(theirs)), 1, func(ctx context.Context, i, _ uint64) error {
		id := theirs[i]
		name, _, _ := strings.Cut(id, ":")
		each(of[name].readBack(ctx, id))
		return nil
	})
}

// readBack reads one key, again and again while the client or the database is not back.
func (s *stream) readBack(ctx context.Context, id string) driver.ReadBack {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		got, _, err := s.ask(ctx, request{Do: doRead, Key: id})
		if err == nil && got.End == endOK {
			return readBack(id, got.Value)
		}
		if err == nil {
			err = fmt.Errorf("its client: %s %s", got.Cause, got.Code)
		}
		select {
		case <-ctx.Done():
			return driver.ReadBack{ID: id, Err: err}
		case <-time.After(restartPause):
		}
	}
}

// Close ends the clients and disconnects.
func (d *Driver) Close() {
	for _, s := range d.streams {
		if s.process != nil {
			s.process.close()
		}
	}
	d.Driver.Close()
}
