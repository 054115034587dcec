package wire

import (
	"bytes"
	"reflect"
	"testing"
)

// FuzzRead wants of every input an end, and of what is taken for a request or a response that it
// is the same once it is written and read again.
func FuzzRead(f *testing.F) {
	request := Request{ID: 7, Verb: Put, Key: "k", Writer: "w", Seq: 3, Value: []byte("v")}
	response := Response{ID: 7, Status: Failed, Cause: "overloaded", Code: "E", Value: []byte("v")}
	f.Add(AppendRequest(nil, &request))
	f.Add(AppendResponse(AppendResponse(nil, &response), &response))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{0, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, input []byte) {
		requests := NewReader(bytes.NewReader(input))
		for got := (Request{}); requests.ReadRequest(&got) == nil; {
			var again Request
			err := NewReader(bytes.NewReader(AppendRequest(nil, &got))).ReadRequest(&again)
			if err != nil || !reflect.DeepEqual(got, again) {
				t.Errorf("read %+v, then %+v, %v", got, again, err)
			}
		}
		responses := NewReader(bytes.NewReader(input))
		for got := (Response{}); responses.ReadResponse(&got) == nil; {
			var again Response
			err := NewReader(bytes.NewReader(AppendResponse(nil, &got))).ReadResponse(&again)
			if err != nil || !reflect.DeepEqual(got, again) {
				t.Errorf("read %+v, then %+v, %v", got, again, err)
			}
		}
	})
}
