package redis

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
// so that a script can tell writer and sequence. The fields of a value are not told apart. A counter
// is a decimal number, as INCR wants it.
const kindRecord = 'r'

func stored(record driver.Record, value []byte) string {
	return fmt.Sprintf("%c%s\x00%d\x00%08x%s", kindRecord, record.Writer, record.Seq, record.Checksum, value)
}

func whole(op *driver.Op) string { return stored(op.Record, op.Value) }

// takeApart reads a value of ours; what is not of our shape is not valid.
func takeApart(id, value string) (f driver.Found) {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return driver.Found{Counter: true, Count: n}
	}
	parts := bytes.SplitN([]byte(value), []byte{0}, 3)
	if value == "" || value[0] != kindRecord || len(parts) < 3 || len(parts[2]) < 8 {
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

// readBack is what a reply says of its key; nil is a key that is missing.
func readBack(id string, reply any, counter bool) driver.ReadBack {
	value, there := reply.(string)
	if !there {
		return driver.ReadBack{ID: id, Missing: true}
	}
	return takeApart(id, value).ReadBack(id, counter)
}
