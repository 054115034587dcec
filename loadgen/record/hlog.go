package record

import (
	"fmt"
	"strconv"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"brownout/loadgen/engine/account"
)

// appendLogHeader starts an HdrHistogram interval log, format 1.3. The base
// time makes the lines' times count from the schedule's start.
func appendLogHeader(log []byte, t0 time.Time) []byte {
	seconds := float64(t0.UnixMilli()) / 1000
	log = append(log, "#[brownout load generator; times in microseconds]\n"...)
	log = append(log, "#[Histogram log format version 1.3]\n"...)
	log = fmt.Appendf(log, "#[StartTime: %.3f (seconds since epoch), %s]\n", seconds, t0.UTC().Format(time.RFC3339))
	log = fmt.Appendf(log, "#[BaseTime: %.3f (seconds since epoch)]\n", seconds)
	return append(log, `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`+"\n"...)
}

// appendInterval appends a line for each histogram that is not empty. The tag
// is stream/op, with /service or /failed after it.
func (e *encoder) appendInterval(log []byte, slots []account.Slot, interval *account.Interval) ([]byte, error) {
	for i, times := range interval.Slots {
		tag := slots[i].Stream + "/" + slots[i].Op.String()
		for _, line := range []struct {
			tag       string
			histogram *hdr.Histogram
		}{{tag, times.Response}, {tag + "/service", times.Service}, {tag + "/failed", times.Failed}} {
			if line.histogram == nil || line.histogram.TotalCount() == 0 {
				continue
			}
			log = append(log, "Tag="+line.tag+","...)
			log = appendSeconds(log, interval.Start)
			log = append(appendSeconds(append(log, ','), interval.Length), ',')
			// In milliseconds, as the tools' own default unit ratio makes it.
			log = strconv.AppendFloat(log, float64(line.histogram.Max())/1000, 'f', 3, 64)
			var err error
			if log, err = e.append(append(log, ','), line.histogram); err != nil {
				return log, fmt.Errorf("cannot encode a histogram: %w", err)
			}
			log = append(log, '\n')
		}
	}
	return log, nil
}

func appendSeconds(log []byte, d time.Duration) []byte {
	return strconv.AppendFloat(log, d.Seconds(), 'f', 3, 64)
}
