package control

import (
	"math"
	"runtime"
	"syscall"
	"time"

	"brownout/loadgen/spec"
)

// Go's runtime has a thread, sysmon, that sleeps while all of its processors (P) are idle. The next
// system call wakes it, and it then polls every 20 µs for a while: between single operations that
// takes up to a quarter of the generator's processor time. It polls only every 10 ms while one P is
// in a system call. See decision 020.
const (
	// nap is half of the time after which sysmon takes a P from a system call.
	nap = 5 * time.Millisecond
	// busy is a rate, in operations a second, between those that were measured: at 20/s naps cost
	// more than they save, at 500/s less.
	busy = 200
	// mostProcessors is the number of Ps up to which this was measured.
	mostProcessors = 2
)

// calmSysmon keeps an additional P in system calls until it is told to end, if that is known to
// save processor time with this load.
func calmSysmon(load *spec.Spec) (end func()) {
	processors := runtime.GOMAXPROCS(0)
	if processors > mostProcessors || perSecond(load) < busy {
		return func() {}
	}
	runtime.GOMAXPROCS(processors + 1)
	over := make(chan struct{})
	go napUntil(over)
	return func() {
		close(over)
		runtime.GOMAXPROCS(processors)
	}
}

func napUntil(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		default:
		}
		rest := syscall.NsecToTimespec(nap.Nanoseconds())
		_ = syscall.Nanosleep(&rest, nil) // a signal may end it early
		runtime.Gosched()                 // without this, sysmon sees one long call and takes the P
	}
}

// perSecond is how many operations the generator does; those of a closed loop are any number.
func perSecond(load *spec.Spec) (rate float64) {
	for i := range load.Streams {
		if !load.Streams[i].Open() {
			return math.Inf(1)
		}
		rate += load.Streams[i].Rate
	}
	return rate / float64(load.Part.Parts())
}
