package couchbase

import (
	"bytes"
	"fmt"
	"strconv"

	"brownout/loadgen/driver"
)

// A record is stored as
//
//	r writer 0x00 sequence 0x00 checksum value    sequence in decimal, checksum in 8 hexadecimal digits
//
// The fields of a value are not told apart. A counter is a decimal number, as Couchbase's own are.
const kindRecord = 'r'

func stored(record driver.Record, value []byte) []byte {
	head := fmt.Appendf(nil, "%c%s\x00%d\x00%08x", kindRecord, record.Writer, record.Seq, record.Checksum)
	return append(head, value...)
}

func count(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// takeApart reads a value of ours; what is not of our shape is not valid.
func takeApart(id string, value []byte) (f driver.Found) {
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return driver.Found{Counter: true, Count: n}
	}
	parts := bytes.SplitN(value, []byte{0}, 3)
	if len(value) == 0 || value[0] != kindRecord || len(parts) < 3 || len(parts[2]) < 8 {
		return f
	}
	seq, err := strconv.ParseUint(string(parts[1]), 10, 64)
	checksum, notOurs := strconv.ParseUint(string(parts[2][:8]), 16, 32)
	if err != nil || notOurs != nil {
		return f
	}
	f.Record = &driver.Record{Writer: string(parts[0][1:]), Seq: seq, Checksum: uint32(checksum)}
	f.Valid = f.Record.Valid(id, parts[2][8:])
	return f
}

// readBack is what is stored under a key; nil is one that is missing.
func readBack(id string, found *item, counter bool) driver.ReadBack {
	if found == nil {
		return driver.ReadBack{ID: id, Missing: true}
	}
	return takeApart(id, found.value).ReadBack(id, counter)
}
