package aerospike

import (
	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
)

// A record is stored under its id as the bins
//
//	w: writer, s: sequence, c: checksum, v: value
//
// and a counter as n: value.
const (
	binWriter   = "w"
	binSeq      = "s"
	binChecksum = "c"
	binValue    = "v"
	binCounter  = "n"
)

// bins is a record on its way to the server, made once and filled many times.
type bins []*client.Bin

func newBins() bins {
	return bins{
		{Name: binWriter}, {Name: binSeq}, {Name: binChecksum}, {Name: binValue},
	}
}

func (b bins) fill(record *driver.Record, value []byte) {
	b[0].Value = client.StringValue(record.Writer)
	b[1].Value = client.LongValue(int64(record.Seq))
	b[2].Value = client.LongValue(int64(record.Checksum))
	b[3].Value = client.BytesValue(value)
}

// puts writes the bins and reads the record, as the operations of one request.
func (b bins) puts() []*client.Operation {
	operations := make([]*client.Operation, 0, len(b)+1)
	for _, bin := range b {
		operations = append(operations, client.PutOp(bin))
	}
	return append(operations, client.GetOp())
}

func counterBin(n int64) *client.Bin {
	return &client.Bin{Name: binCounter, Value: client.LongValue(n)}
}

// found is a stored record, taken apart.
type found struct {
	record  *driver.Record // nil for a counter, or if a bin is missing
	count   int64
	counter bool
	valid   bool // the checksum fits
}

// takeApart reads a record of ours; what is not of our shape is not valid.
func takeApart(id string, stored client.BinMap) found {
	count, isCounter := stored[binCounter].(int)
	f := found{count: int64(count), counter: isCounter}
	writer, hasWriter := stored[binWriter].(string)
	seq, hasSeq := stored[binSeq].(int)
	sum, hasSum := stored[binChecksum].(int)
	value, hasValue := stored[binValue].([]byte)
	if hasWriter && hasSeq && hasSum && hasValue {
		f.record = &driver.Record{Writer: writer, Seq: uint64(seq), Checksum: uint32(sum)}
		f.valid = f.record.Valid(id, value)
	}
	return f
}

// intact tells whether the record is a whole register or a plain counter.
func (f found) intact() bool { return f.valid || (f.record == nil && f.counter) }
