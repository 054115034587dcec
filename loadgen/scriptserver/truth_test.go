package scriptserver

import (
	"testing"
	"time"

	"brownout/loadgen/scriptserver/wire"
)

func TestALaterWriteThatIsKeptCoversALostOne(t *testing.T) {
	truth := newLaneTruth()
	write := func(key string, seq uint64) *job {
		return &job{request: wire.Request{Key: key, Seq: seq}}
	}
	truth.wait(truth.Lost.add(write("a", 1), 0, 0))
	truth.wait(truth.Lost.add(write("b", 1), 0, 0))
	truth.wait(truth.Late.add(write("b", 2), 0, 3))
	truth.cover("b")
	truth.wait(truth.Lost.add(write("b", 4), 0, 0))
	for i, covered := range []bool{false, true, false} {
		if truth.Lost[i].Covered != covered {
			t.Errorf("lost write %d: covered is %v", i, truth.Lost[i].Covered)
		}
	}
	if !truth.Late[0].Covered {
		t.Error("the late write is not covered")
	}
}

func TestTheTimelineCountsByTickAndEndsAfterTenMinutes(t *testing.T) {
	var line timeline
	for _, at := range []time.Duration{-1, 0, 19 * time.Millisecond, 41 * time.Millisecond, time.Hour} {
		line.serve(at)
	}
	if got := line.copied().Served; len(got) != 3 || got[0] != 2 || got[1] != 0 || got[2] != 1 {
		t.Errorf("served by tick: %v", got)
	}
	if len(line.Received) != 0 {
		t.Errorf("received by tick: %v", line.Received)
	}
}
