package node

import (
	"testing"
	"time"

	"brownout/infra/lab/asd/record"
	"brownout/infra/lab/asd/wire"
)

func TestWritersOfOneRecordTakeTurns(t *testing.T) {
	p, key := newPartition(0), record.Digest{1}
	soon := time.Now().Add(10 * time.Second)
	if p.enter(key, 1, soon) != wire.OK {
		t.Fatal("the first had to wait")
	}
	if p.enter(record.Digest{2}, 1, soon) != wire.OK {
		t.Fatal("another record had to wait")
	}
	entered := make(chan wire.Code)
	go func() { entered <- p.enter(key, 1, soon) }()
	for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		waiting = p.busy[key].waiting
		p.mu.Unlock()
	}
	if code := p.enter(key, 1, soon); code != wire.KeyBusy {
		t.Errorf("a third got %d, wanted key busy", code)
	}
	p.leave(key)
	if code := <-entered; code != wire.OK {
		t.Errorf("the second got %d", code)
	}
	p.leave(key)
	if _, there := p.busy[key]; there {
		t.Error("the turn is still there when it is not wanted")
	}
}

func TestWhoWaitsTooLongGivesUpAndTheNextGoesOn(t *testing.T) {
	p, key := newPartition(0), record.Digest{1}
	p.enter(key, 5, time.Now())
	if code := p.enter(key, 5, time.Now().Add(5*time.Millisecond)); code != wire.Timeout {
		t.Errorf("got %d, wanted a time-out", code)
	}
	p.leave(key)
	if code := p.enter(key, 5, time.Now()); code != wire.OK {
		t.Errorf("got %d: the turn was lost", code)
	}
}
