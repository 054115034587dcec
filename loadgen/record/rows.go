package record

import (
	"strconv"
	"strings"
	"time"

	"brownout/loadgen/engine/account"
)

// appendT appends a bucket's start in seconds, with one decimal.
func appendT(line []byte, bucket int64) []byte {
	line = strconv.AppendInt(line, bucket/10, 10)
	line = append(line, '.')
	return strconv.AppendInt(line, bucket%10, 10)
}

func appendHead(line []byte, bucket int64, slot account.Slot) []byte {
	line = appendT(line, bucket)
	line = append(line, ',')
	line = append(line, slot.Stream...)
	line = append(line, ',')
	return append(line, slot.Op.String()...)
}

func appendCounts(line []byte, counts *account.Counts) []byte {
	line = appendUint(line, counts.Offered)
	for _, n := range counts.Ends {
		line = appendUint(line, n)
	}
	return line
}

func appendUint(line []byte, n uint64) []byte {
	return strconv.AppendUint(append(line, ','), n, 10)
}

func appendInt(line []byte, n int64) []byte {
	return strconv.AppendInt(append(line, ','), n, 10)
}

func appendMS(line []byte, d time.Duration) []byte {
	return appendFloat(line, float64(d)/float64(time.Millisecond))
}

func appendFloat(line []byte, x float64) []byte {
	return strconv.AppendFloat(append(line, ','), x, 'f', 3, 64)
}

func appendSeries(line []byte, slots []account.Slot, row *account.Row) []byte {
	line = appendCounts(appendHead(line, row.Bucket, slots[row.Slot]), &row.Counts)
	line = appendUint(line, row.Retried)
	line = appendInt(line, row.Pending)
	return append(appendInt(line, row.MaxUS), '\n')
}

func appendOutcome(line []byte, slots []account.Slot, row *account.Row) []byte {
	return append(appendCounts(appendHead(line, row.Bucket, slots[row.Slot]), &row.Counts), '\n')
}

func appendError(line []byte, slots []account.Slot, row *account.ErrorRow) []byte {
	line = appendHead(line, row.Bucket, slots[row.Slot])
	line = appendText(line, string(row.Cause))
	line = appendText(line, row.Code)
	return append(appendUint(line, row.N), '\n')
}

// laneOps are the fields that separate reads from writes.
var laneOps = map[bool]string{false: ",read", true: ",write"}

func appendLane(line []byte, lanes []string, row *account.LaneRow) []byte {
	line = appendT(line, row.Bucket)
	line = appendText(line, lanes[row.Lane])
	line = append(line, laneOps[row.Write]...)
	line = appendUint(line, row.Offered)
	line = appendUint(line, row.Ok)
	line = appendUint(line, row.Bad)
	return append(appendInt(line, row.Pending), '\n')
}

func appendSelf(line []byte, row *account.Self) []byte {
	line = appendT(line, int64(row.At/account.Width))
	line = appendMS(line, row.LagP99)
	line = appendMS(line, row.LagMax)
	line = appendMS(line, row.GCPause)
	line = appendFloat(line, row.CPU.Seconds())
	line = appendFloat(line, float64(row.RSS)/1e6)
	return append(appendInt(line, int64(row.Goroutines)), '\n')
}

// appendText quotes a field as RFC 4180 wants it.
func appendText(line []byte, text string) []byte {
	line = append(line, ',')
	if !strings.ContainsAny(text, "\",\r\n") {
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"')
}
