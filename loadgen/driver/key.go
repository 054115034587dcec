package driver

import (
	"fmt"
	"strconv"
)

// DataID is the stored key of number key of the plain data set.
func DataID(key uint64) string {
	buffer := make([]byte, 0, 12)
	buffer = append(buffer, 'k')
	for limit := uint64(1_000_000_000); limit > 1 && key < limit; limit /= 10 {
		buffer = append(buffer, '0')
	}
	return string(strconv.AppendUint(buffer, key, 10))
}

// InsertID is the stored key of the n-th insert of a stream.
func InsertID(stream int, n uint64) string {
	buffer := make([]byte, 0, 24)
	buffer = append(buffer, 'i')
	buffer = strconv.AppendInt(buffer, int64(stream), 10)
	buffer = append(buffer, '-')
	return string(strconv.AppendUint(buffer, n, 10))
}

// LedgerID is the stored key of a verified register or counter.
func LedgerID(stream string, counter bool, key uint64) string {
	kind := "r"
	if counter {
		kind = "c"
	}
	return fmt.Sprintf("%s:%s%08d", stream, kind, key)
}
