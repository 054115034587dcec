package wire

import (
	"bytes"
	"reflect"
	"testing"
)

// FuzzRead wants of every input an end, and of what is taken for a frame, a request or an answer
// that it is the same once it is written and read again.
func FuzzRead(f *testing.F) {
	answer := Answer{Code: OK, Generation: 3, Ops: put().Ops}
	batch := batchOf(0)
	f.Add(Frame{FrameMessage, put().Append(nil)}.Append(nil))
	f.Add(answer.Frame().Append(nil))
	f.Add(Frame{FrameMessage, batch.Append(nil)}.Append(Frame{FrameInfo, []byte("node\n")}.Append(nil)))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{2, 3, 0, 0, 7, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, input []byte) {
		in := bytes.NewReader(input)
		for {
			frame, err := ReadFrame(in)
			if err != nil {
				return
			}
			again, err := ReadFrame(bytes.NewReader(frame.Append(nil)))
			if err != nil || again.Kind != frame.Kind || !bytes.Equal(again.Body, frame.Body) {
				t.Errorf("read %+v, then %+v, %v", frame, again, err)
			}
			checkBody(t, frame.Body)
		}
	})
}

func checkBody(t *testing.T, body []byte) {
	if got, err := ParseRequest(body); err == nil {
		if _, err := ParseRequest(got.Append(nil)); err != nil {
			t.Errorf("%+v is a request, but not once it is written: %v", got, err)
		}
		if _, err := ParseBatch(got); err == nil && len(got.Batch) == 0 {
			t.Errorf("%+v has no batch, but parts of one", got)
		}
	}
	if got, err := ParseAnswer(body); err == nil {
		again, err := ParseAnswer(got.Append(nil))
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("read %+v, then %+v, %v", got, again, err)
		}
	}
}
