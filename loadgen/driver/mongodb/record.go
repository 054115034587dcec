package mongodb

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"brownout/loadgen/driver"
)

// A record is stored as
//
//	{_id: "orders:r00000007", w: writer, s: sequence, c: checksum, v: value}
//
// or v, v1, v2 … if the value has fields,
//
// and a counter as {_id: "orders:c00000007", n: value}.

func document(id string, record driver.Record, value []byte, fields int) bson.D {
	d := bson.D{
		{Key: "_id", Value: id},
		{Key: "w", Value: record.Writer},
		{Key: "s", Value: int64(record.Seq)},
		{Key: "c", Value: int64(record.Checksum)},
		{Key: driver.FieldNames[0], Value: bson.Binary{Data: driver.Field(value, 0, max(fields, 1))}},
	}
	for i := 1; i < fields; i++ {
		field := bson.Binary{Data: driver.Field(value, i, fields)}
		d = append(d, bson.E{Key: driver.FieldNames[i], Value: field})
	}
	return d
}

func counter(id string, value int64) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "n", Value: value}}
}

func byID(id string) bson.D { return bson.D{{Key: "_id", Value: id}} }

// found is a stored document, taken apart.
type found struct {
	id string
	driver.Found
}

// takeApart reads a document of ours; what is not of our shape is not valid.
func takeApart(raw bson.Raw) found {
	id, _ := raw.Lookup("_id").StringValueOK()
	f := found{id: id}
	f.Count, f.Counter = raw.Lookup("n").AsInt64OK()
	writer, hasWriter := raw.Lookup("w").StringValueOK()
	seq, hasSeq := raw.Lookup("s").AsInt64OK()
	sum, hasSum := raw.Lookup("c").AsInt64OK()
	_, value, hasValue := raw.Lookup(driver.FieldNames[0]).BinaryOK()
	for i := 1; hasValue && i < driver.MaxFields; i++ {
		_, next, more := raw.Lookup(driver.FieldNames[i]).BinaryOK()
		if !more {
			break
		}
		value = append(value[:len(value):len(value)], next...)
	}
	if hasWriter && hasSeq && hasSum && hasValue {
		f.Record = &driver.Record{Writer: writer, Seq: uint64(seq), Checksum: uint32(sum)}
		f.Valid = f.Record.Valid(id, value)
	}
	return f
}
