package control

import (
	"context"
	"errors"
	"strings"
	"sync"

	"brownout/loadgen/driver"
	"brownout/loadgen/engine"
	"brownout/loadgen/ledger"
	"brownout/loadgen/record"
)

// found is one key as read back: one line of ledger.ndjson.
type found struct {
	Read       string  `json:"read"`
	Stream     string  `json:"stream"`
	Seq        *uint64 `json:"seq,omitempty"`
	Writer     *string `json:"writer,omitempty"`
	ChecksumOK *bool   `json:"checksum_ok,omitempty"`
	Value      *int64  `json:"value,omitempty"`
	Missing    bool    `json:"missing,omitempty"`
	Error      string  `json:"error,omitempty"`
}

// lastLine ends a complete ledger.
type lastLine struct {
	End     bool `json:"end"`
	Keys    int  `json:"keys"`
	Read    int  `json:"read"`
	Sampled bool `json:"sampled"`
}

// verify reads every key of the ledger back.
func (s *Session) verify(ctx context.Context, c command) error {
	if !s.stopped {
		return &errOrder{"there is nothing to verify yet", "send `stop` first"}
	}
	if s.verified {
		return &errOrder{"the ledger is read back already", "see ledger.ndjson"}
	}
	s.verified = true
	back := &readBack{directory: s.directory, secrets: s.secrets.Load(), report: s.progress("verifying"),
		values: map[string]int64{}}
	for _, set := range s.engine.Ledger() {
		back.total += len(set.IDs())
	}
	for _, promises := range s.engine.Promises() {
		back.total += promises.Len()
	}
	err := s.engine.CheckHistories(ctx, s.progress("verifying"), s.directory.Ledger, s.directory.Draw)
	if err != nil {
		return err
	}
	if c.Copies { // before a read of all repairs them
		if err := s.compareCopies(ctx); err != nil {
			return err
		}
	}
	for _, set := range s.engine.Ledger() {
		back.begin(set)
		failed := s.driver.ReadBack(ctx, true, set.IDs(), set.Counter, back.take)
		if err := back.finish(set, failed); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := s.verifyDocuments(ctx, back); err != nil {
		return err
	}
	if err := s.checkData(ctx); err != nil {
		return err
	}
	for _, balance := range s.engine.Balances(back.values) {
		if err := s.directory.Ledger(balance); err != nil {
			return err
		}
	}
	if err := back.end(s.engine.Suspicious()); err != nil {
		return err
	}
	s.out.send(named("verified", event{"keys": back.total, "read": back.read, "unread": back.total - back.read}))
	return nil
}

// verifyDocuments looks for every document that was inserted, group by group, and reads
// the totals.
func (s *Session) verifyDocuments(ctx context.Context, back *readBack) error {
	if len(s.engine.Promises()) == 0 {
		return nil
	}
	finder, err := s.finder(ctx)
	if err != nil {
		return err
	}
	defer finder.Close()
	for _, promises := range s.engine.Promises() {
		back.beginDocuments(promises)
		for place := range promises.Len() {
			back.take(promises.Find(ctx, finder, place))
			if err := errors.Join(back.failed, ctx.Err()); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkData reads back the data set that the run loaded, if there is a ledger, and the keys of the
// answers that failed their checksum.
func (s *Session) checkData(ctx context.Context) error {
	lost := func(lost *engine.LostRecord) error { return s.directory.Ledger(lost) }
	if s.engine.ChecksData() {
		checked, err := s.engine.CheckData(ctx, lost)
		if err != nil {
			return err
		}
		checked.Error = s.secrets.Load().Replace(checked.Error)
		if err := s.directory.Ledger(checked); err != nil {
			return err
		}
	}
	reread, err := s.engine.Reread(ctx, lost)
	if err != nil || reread == nil {
		return err
	}
	return s.directory.Ledger(reread)
}

// compareCopies compares what every server has stored.
func (s *Session) compareCopies(ctx context.Context) error {
	compared, err := s.engine.CompareCopies(ctx, s.progress("verifying"), func(key *engine.DivergedKey) error {
		return s.directory.Ledger(key)
	})
	if err != nil || compared == nil {
		return err
	}
	compared.Error = s.secrets.Load().Replace(compared.Error)
	return s.directory.Ledger(compared)
}

func (s *Session) finder(ctx context.Context) (driver.Finder, error) {
	keeper, ok := driver.As[driver.KeepsDocuments](s.driver)
	if !ok {
		return nil, &errOrder{"the driver " + s.spec.Driver + " keeps no documents", "choose another workload for it"}
	}
	return keeper.Finder(ctx)
}

// clean removes what the load made.
func (s *Session) clean(ctx context.Context, _ command) error {
	if s.driver == nil || s.running() {
		return &errOrder{"there is nothing to clean now", "send `open` first, and `stop` what runs"}
	}
	if err := s.driver.Clean(ctx); err != nil {
		return err
	}
	s.out.send(named("cleaned", nil))
	return nil
}

// readBack writes down what was found, key by key.
type readBack struct {
	directory *record.Directory
	secrets   *strings.Replacer
	report    func(done, total uint64)
	total     int

	mu      sync.Mutex
	stream  string
	counter bool
	seen    map[string]bool
	read    int
	values  map[string]int64 // of counters
	failed  error            // of the run directory
}

func (b *readBack) begin(set *ledger.Set) {
	b.stream, b.counter, b.seen = set.Name, set.Counter, make(map[string]bool, len(set.IDs()))
}

func (b *readBack) beginDocuments(of engine.Promises) {
	b.stream, b.counter, b.seen = of.StreamName(), true, make(map[string]bool, of.Len())
}

// take writes one key down; a second report of the same key is ignored.
func (b *readBack) take(key driver.ReadBack) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen[key.ID] || b.failed != nil {
		return
	}
	b.seen[key.ID] = true
	if key.Err == nil {
		b.read++
		if b.counter && key.ChecksumOK {
			b.values[key.ID] = key.Value
		}
	}
	b.failed = b.directory.Ledger(b.line(key))
	b.report(uint64(b.read), uint64(b.total))
}

func (b *readBack) line(key driver.ReadBack) found {
	line := found{Read: key.ID, Stream: b.stream}
	switch {
	case key.Err != nil:
		line.Error = b.secrets.Replace(key.Err.Error())
	case key.Missing || (!b.counter && key.Record == nil):
		line.Missing = true
	case b.counter && key.ChecksumOK:
		line.Value = &key.Value
	case b.counter: // what is stored is not a counter
		line.ChecksumOK = &key.ChecksumOK
	default:
		line.Seq, line.Writer, line.ChecksumOK = &key.Record.Seq, &key.Record.Writer, &key.ChecksumOK
	}
	return line
}

// finish writes down as unread what the driver did not report.
func (b *readBack) finish(set *ledger.Set, cause error) error {
	if cause == nil {
		cause = errors.New("the driver did not report this key")
	}
	for _, id := range set.IDs() {
		if !b.seen[id] {
			b.take(driver.ReadBack{ID: id, Err: cause})
		}
	}
	return b.failed
}

// end completes the ledger, if there is one: a load without promises has one only of answers that
// failed their checksum.
func (b *readBack) end(garbled bool) error {
	if b.total == 0 && !garbled {
		return nil
	}
	if err := b.directory.Ledger(lastLine{End: true, Keys: b.total, Read: b.read}); err != nil {
		return err
	}
	return b.directory.CloseLedger()
}
