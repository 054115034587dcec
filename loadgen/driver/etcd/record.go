package etcd

import (
	"bytes"
	"encoding/binary"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"brownout/loadgen/driver"
)

// A record is stored as
//
//	r writer 0x00 sequence checksum value    sequence in 8 bytes and checksum in 4, big-endian
//
// so that the values of one writer lie in the order of their sequences, which is how
// the server is asked whether the one that is known is there. The fields of a value are
// not told apart. A counter is
//
//	n count                                  in 8 bytes, big-endian, the sign bit turned over
const (
	kindRecord  = 'r'
	kindCounter = 'n'
)

// ordered is the beginning of all values with that writer and sequence.
func ordered(writer string, seq uint64) []byte {
	value := append([]byte{kindRecord}, writer...)
	return binary.BigEndian.AppendUint64(append(value, 0), seq)
}

func stored(record driver.Record, value []byte) string {
	head := ordered(record.Writer, record.Seq)
	return string(append(binary.BigEndian.AppendUint32(head, record.Checksum), value...))
}

func whole(op *driver.Op) string { return stored(op.Record, op.Value) }

func count(n int64) string {
	return string(binary.BigEndian.AppendUint64([]byte{kindCounter}, uint64(n)^(1<<63)))
}

// takeApart reads a value of ours; what is not of our shape is not valid.
func takeApart(id string, value []byte) (f driver.Found) {
	if len(value) == 9 && value[0] == kindCounter {
		return driver.Found{Counter: true, Count: int64(binary.BigEndian.Uint64(value[1:]) ^ (1 << 63))}
	}
	if len(value) == 0 || value[0] != kindRecord {
		return f
	}
	writer, rest, cut := bytes.Cut(value[1:], []byte{0})
	if !cut || len(rest) < 12 {
		return f
	}
	f.Record = &driver.Record{
		Writer: string(writer), Seq: binary.BigEndian.Uint64(rest), Checksum: binary.BigEndian.Uint32(rest[8:]),
	}
	f.Valid = f.Record.Valid(id, rest[12:])
	return f
}

// readBack is what a stored value says of its key; nil is a key that is missing.
func readBack(id string, kv *mvccpb.KeyValue, counter bool) driver.ReadBack {
	if kv == nil {
		return driver.ReadBack{ID: id, Missing: true}
	}
	return takeApart(id, kv.Value).ReadBack(id, counter)
}
