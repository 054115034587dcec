package record

import (
	"encoding/json"
	"os"
	"runtime"
	"time"

	"brownout/loadgen/driver"
)

// Summary is generator.json: written when the schedule starts, and again when
// all is over. Without Ended the generator died.
type Summary struct {
	Version        string         `json:"version"`
	Go             string         `json:"go"`
	PID            int            `json:"pid"`
	Host           string         `json:"host"`
	Part           *driver.Share  `json:"part,omitempty"` // of several generators
	Driver         string         `json:"driver"`
	DriverSettings map[string]any `json:"driver_settings"`
	Loop           string         `json:"loop"`
	LaneCap        int            `json:"lane_cap"`
	GlobalCap      int            `json:"global_cap"`
	T0Wall         string         `json:"t0_wall"`
	T0UnixNS       int64          `json:"t0_unix_ns"`
	Ended          bool           `json:"ended"`
	EndT           *float64       `json:"end_t"`
	Offered        uint64         `json:"offered"`
	Ok             uint64         `json:"ok"`
	Late           uint64         `json:"late"`
	Failed         uint64         `json:"failed"`
	InDoubt        uint64         `json:"in_doubt"`
	Shed           uint64         `json:"shed"`
	Missed         uint64         `json:"missed"`
	Undrained      int64          `json:"undrained"`
	LagP99MS       float64        `json:"lag_p99_ms"`
	Violations     uint64         `json:"identity_violations"`
	StopReason     string         `json:"stop_reason"`
}

// NewSummary fills in what is known of the process.
func NewSummary(version string, t0 time.Time) Summary {
	host, _ := os.Hostname() // a record without it is still a record
	return Summary{
		Version: version, Go: runtime.Version(), PID: os.Getpid(), Host: host,
		T0Wall: t0.UTC().Format("2006-01-02T15:04:05.000Z"), T0UnixNS: t0.UnixNano(),
	}
}

// WriteSummary replaces generator.json in one step.
func (d *Directory) WriteSummary(s *Summary) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return explain(err)
	}
	return d.replace("generator.json", append(text, '\n'))
}
