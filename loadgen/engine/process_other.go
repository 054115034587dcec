//go:build !linux

package engine

import (
	"runtime/metrics"
	"time"
)

// cpuTime is what the runtime's scheduler knows of the time used.
func cpuTime() time.Duration {
	sample := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(sample)
	return time.Duration(sample[0].Value.Float64() * float64(time.Second))
}

// residentBytes is the memory the runtime has taken from the system.
func residentBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
