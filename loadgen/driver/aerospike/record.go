package aerospike

import (
	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
)

// A record is stored under its id as the bins
//
//	w: writer, s: sequence, c: checksum, v: value, or v, v1, v2 … if it has fields
//
// and a counter as n: value.
const (
	binWriter   = "w"
	binSeq      = "s"
	binChecksum = "c"
	binCounter  = "n"
)

// bins is a record on its way to the server, made once and filled many times.
type bins []*client.Bin

// firstField is the place of the value's first field.
const firstField = 3

func newBins() bins {
	return bins{
		{Name: binWriter}, {Name: binSeq}, {Name: binChecksum}, {Name: driver.FieldNames[0]},
	}
}

// fill returns the bins with a record and its value in so many fields.
func (b bins) fill(record *driver.Record, value []byte, fields int) bins {
	fields = max(fields, 1)
	for i := len(b) - firstField; i < fields; i++ {
		b = append(b, &client.Bin{Name: driver.FieldNames[i]})
	}
	b[0].Value = client.StringValue(record.Writer)
	b[1].Value = client.LongValue(int64(record.Seq))
	b[2].Value = client.LongValue(int64(record.Checksum))
	if fields == 1 {
		b[firstField].Value = client.BytesValue(value)
		return b[:firstField+1]
	}
	for i := range fields {
		b[firstField+i].Value = client.BytesValue(driver.Field(value, i, fields))
	}
	return b[:firstField+fields]
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

// takeApart reads a record of ours; what is not of our shape is not valid.
func takeApart(id string, stored client.BinMap) driver.Found {
	count, isCounter := stored[binCounter].(int)
	f := driver.Found{Count: int64(count), Counter: isCounter}
	writer, hasWriter := stored[binWriter].(string)
	seq, hasSeq := stored[binSeq].(int)
	sum, hasSum := stored[binChecksum].(int)
	value, hasValue := stored[driver.FieldNames[0]].([]byte)
	for i := 1; hasValue && i < len(stored)-firstField; i++ {
		next, more := stored[driver.FieldNames[i]].([]byte)
		if !more {
			break
		}
		value = append(value, next...)
	}
	if hasWriter && hasSeq && hasSum && hasValue {
		f.Record = &driver.Record{Writer: writer, Seq: uint64(seq), Checksum: uint32(sum)}
		f.Valid = f.Record.Valid(id, value)
	}
	return f
}
