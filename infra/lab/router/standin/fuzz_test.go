package standin

import (
	"bytes"
	"encoding/binary"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// message is one of the wire's, of this opcode.
func message(code uint32, body []byte) []byte {
	var framed []byte
	for _, number := range []uint32{uint32(headerBytes + len(body)), 7, 0, code} {
		framed = binary.LittleEndian.AppendUint32(framed, number)
	}
	return append(framed, body...)
}

func FuzzAMessageIsReadOrRefused(f *testing.F) {
	hello, _ := bson.Marshal(bson.D{{Key: "hello", Value: 1}, {Key: "$db", Value: "admin"}})
	plain := append([]byte{0, 0, 0, 0, 0}, hello...)
	f.Add(message(opMsg, plain))
	f.Add(message(opMsg, append(bytes.Clone(plain), 1, 12, 0, 0, 0, 'd', 0, 5, 0, 0, 0, 0)))
	f.Add(message(opQuery, append([]byte("\x00\x00\x00\x00admin.$cmd\x00\x00\x00\x00\x00\x01\x00\x00\x00"), hello...)))
	f.Add(message(opMsg, []byte{1, 0, 0, 0, 0}))
	f.Add(message(1, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := readRequest(bytes.NewReader(data))
		if err == nil && len(found.command) > 0 {
			_ = newCall(found.command)
		}
	})
}

func TestAGreetingIsReadBothWays(t *testing.T) {
	hello, _ := bson.Marshal(bson.D{{Key: "hello", Value: int32(1)}})
	for _, framed := range [][]byte{
		message(opMsg, append([]byte{0, 0, 0, 0, 0}, hello...)),
		message(opQuery, append([]byte("\x00\x00\x00\x00admin.$cmd\x00\x00\x00\x00\x00\x01\x00\x00\x00"), hello...)),
	} {
		found, err := readRequest(bytes.NewReader(framed))
		if err != nil || newCall(found.command).name != "hello" {
			t.Errorf("got %+v, %v", found, err)
		}
	}
}
