package control

import (
	"runtime"
	"testing"

	"brownout/loadgen/spec"
)

// The runtime has one processor more during a load that is known to profit, and as many as
// before once it is over.
func TestSysmonIsCalmedOnlyWhereThatIsKnownToHelp(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	open := func(rates ...float64) []spec.Stream {
		streams := make([]spec.Stream, len(rates))
		for i, rate := range rates {
			streams[i].Rate = rate
		}
		return streams
	}
	for name, test := range map[string]struct {
		processors int
		load       spec.Spec
		during     int
	}{
		"fast":                {2, spec.Spec{Streams: open(500)}, 3},
		"fast, one processor": {1, spec.Spec{Streams: open(500)}, 2},
		"fast in all":         {2, spec.Spec{Streams: open(100, 100)}, 3},
		"closed":              {2, spec.Spec{Streams: []spec.Stream{{Concurrency: 1}}}, 3},
		"slow":                {2, spec.Spec{Streams: open(20)}, 2},
		"more processors":     {4, spec.Spec{Streams: open(500)}, 4},
	} {
		runtime.GOMAXPROCS(test.processors)
		end := calmSysmon(&test.load)
		if during := runtime.GOMAXPROCS(0); during != test.during {
			t.Errorf("%s: %d processors during the load, wanted %d", name, during, test.during)
		}
		if end(); runtime.GOMAXPROCS(0) != test.processors {
			t.Errorf("%s: %d processors after it, wanted %d", name, runtime.GOMAXPROCS(0), test.processors)
		}
	}
}
