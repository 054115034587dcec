package wire

import (
	"bytes"
	"reflect"
	"testing"
	"testing/quick"
)

func TestRequestsSurviveTheWire(t *testing.T) {
	property := func(want Request) bool {
		want.Verb %= verbs
		if want.Value == nil {
			want.Value = []byte{}
		}
		var got Request
		err := NewReader(bytes.NewReader(AppendRequest(nil, &want))).ReadRequest(&got)
		return err == nil && reflect.DeepEqual(got, want)
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestResponsesSurviveTheWireOneAfterTheOther(t *testing.T) {
	property := func(first, second Response) bool {
		reader := NewReader(bytes.NewReader(AppendResponse(AppendResponse(nil, &first), &second)))
		for _, want := range []Response{first, second} {
			var got Response
			if err := reader.ReadResponse(&got); err != nil || !bytes.Equal(got.Value, want.Value) {
				return false
			}
			got.Value, want.Value = nil, nil
			if !reflect.DeepEqual(got, want) {
				return false
			}
		}
		return true
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
}

func TestAStrangerIsNoticed(t *testing.T) {
	for _, input := range []string{"GET / HTTP/1.1\r\n\r\n", "\x00\x00\x00\x01x", "\x00\x00\x00\x20" + string(make([]byte, 32))} {
		var got Request
		if err := NewReader(bytes.NewBufferString(input)).ReadRequest(&got); err == nil {
			t.Errorf("%q was taken for a request", input)
		}
	}
}
