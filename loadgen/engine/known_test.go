package engine

import (
	"context"
	"sync"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/ledger"
	"brownout/loadgen/spec"
)

// store is a database of registers that keeps to the conditions of its writers.
type store struct {
	mu     sync.Mutex
	stored map[string]uint64
}

func (s *store) do(_ context.Context, op *driver.Op) driver.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	seq, there := s.stored[op.ID]
	look := &driver.ReadBack{ID: op.ID, Missing: !there, ChecksumOK: true, Record: &driver.Record{Seq: seq}}
	if !op.Known.Fits(look) {
		return driver.Result{Class: driver.Failed, Cause: driver.CauseNotFound, Sent: true, Refused: true, Look: look}
	}
	s.stored[op.ID] = op.Record.Seq
	return drivertest.OK()
}

func TestAWriterWhoseRecordIsGoneGoesOnUnderAnotherKeyAndTheLedgerKnows(t *testing.T) {
	s := oneStream(func(stream *spec.Stream) {
		stream.Mix, stream.Verified, stream.LedgerKeys = map[string]float64{"update": 1}, true, 1
		stream.Rate = 10
	})
	first := driver.LedgerID("app", false, 0)
	db := &store{stored: map[string]uint64{first: 1}}
	var sent int
	fake := &drivertest.Fake{Answer: func(ctx context.Context, op *driver.Op) driver.Result {
		if sent++; sent == 5 {
			delete(db.stored, first)
		}
		return db.do(ctx, op)
	}}
	var lines []*ledger.Line
	fake.Doubt = time.Second
	kept, ending := simulateThen(t, s, fake, 2*time.Second, func(e *Engine) {
		_ = e.Ledger()[0].Lines("run", func(l *ledger.Line) error { lines = append(lines, l); return nil })
	})
	kept.check(t, ending)
	if sum := kept.sum(); sum.Ends[0] != sum.Offered {
		t.Errorf("the writer noticed the loss: %+v", sum)
	}
	if len(lines) != 2 {
		t.Fatalf("%d lines, wanted the lost key and the one that takes its place", len(lines))
	}
	now, gone := lines[0], lines[1]
	if gone.Key != first || gone.Acked != 5 || gone.AckedN != 5 || gone.FailedN != 1 || gone.Refused.Found != "missing" {
		t.Errorf("the lost key: %+v", gone)
	}
	if now.Key == first || now.Loaded || now.AckedN != uint64(ending.Counts.Offered)-4 || now.Acked != db.stored[now.Key] {
		t.Errorf("the new key: %+v", now)
	}
}
