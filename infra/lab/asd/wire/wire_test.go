package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"reflect"
	"testing"
)

func put() *Request {
	return &Request{
		Info2: Info2Write | Info2Generation, Generation: 7, TimeoutMs: 1000,
		Namespace: "test", Set: "s", Key: []byte{TypeString, 'k'}, Digest: bytes.Repeat([]byte{9}, digestSize),
		Ops: []Op{{Kind: OpWrite, Type: TypeInteger, Bin: "n", Value: []byte{0, 0, 0, 0, 0, 0, 0, 5}}},
	}
}

func TestARequestIsReadAsItWasWritten(t *testing.T) {
	got, err := ParseRequest(put().Append(nil))
	if err != nil || !reflect.DeepEqual(got, put()) {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestACutOffRequestIsAnError(t *testing.T) {
	whole := put().Append(nil)
	for n := range whole {
		if _, err := ParseRequest(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken for a request", n, len(whole))
		}
	}
}

func TestAnAnswerIsReadAsItWasWritten(t *testing.T) {
	want := Answer{Code: OK, Generation: 3, Ops: put().Ops}
	got, err := ParseAnswer(want.Append(nil))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if _, err := ParseAnswer(want.Append(nil)[:30]); err == nil {
		t.Error("a cut-off answer was taken for one")
	}
}

func TestFramesAreReadOneAfterTheOther(t *testing.T) {
	first, second := Frame{FrameInfo, []byte("node\n")}, Frame{FrameMessage, nil}
	in := bytes.NewReader(second.Append(first.Append(nil)))
	for _, want := range []Frame{first, second} {
		got, err := ReadFrame(in)
		if err != nil || got.Kind != want.Kind || !bytes.Equal(got.Body, want.Body) {
			t.Fatalf("got %+v, %v, wanted %+v", got, err, want)
		}
	}
	if _, err := ReadFrame(in); err != io.EOF {
		t.Errorf("after the last frame: %v", err)
	}
}

func TestFramesThatAreNoneAreRefused(t *testing.T) {
	tooBig := binary.BigEndian.AppendUint64(nil, 2<<56|1<<48|(MaxFrame+1))
	for name, raw := range map[string][]byte{
		"another protocol": []byte("GET / HTTP/1.1\r\n"),
		"too big":          tooBig,
		"cut off":          Frame{FrameInfo, []byte("node\n")}.Append(nil)[:10],
	} {
		if _, err := ReadFrame(bytes.NewReader(raw)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// batchOf writes a batch of two records of which the second repeats all but its digest.
func batchOf(how byte, meta ...byte) *Request {
	digest := bytes.Repeat([]byte{1}, digestSize)
	raw := append([]byte{0, 0, 0, 2, 0, 0, 0, 0, 7}, digest...)
	raw = append(append(raw, how, Info1Read|Info1AllBins), meta...)
	raw = append(raw, 0, 1, 0, 0, 0, 0, 0, 5, fieldNamespace)
	raw = append(raw, "test"...)
	raw = append(append(raw, 0, 0, 0, 8), bytes.Repeat([]byte{2}, digestSize)...)
	return &Request{Batch: append(raw, batchRepeat), TimeoutMs: 50}
}

func TestABatchIsReadInEveryForm(t *testing.T) {
	for name, batch := range map[string]*Request{
		"short": batchOf(0),
		"long":  batchOf(batchInfo|batchGeneration|batchTTL|batchInfo4, 0, 0, 0, 0, 3, 0, 0, 0, 0),
	} {
		parts, err := ParseBatch(batch)
		if err != nil || len(parts) != 2 {
			t.Fatalf("%s: %+v, %v", name, parts, err)
		}
		for i, want := range []byte{1, 2} {
			r := parts[i].Request
			if parts[i].Index != uint32(7+i) || r.Digest[0] != want || r.Namespace != "test" || r.TimeoutMs != 50 {
				t.Errorf("%s: part %d is %d %+v", name, i, parts[i].Index, r)
			}
		}
	}
}

func TestACutOffBatchIsAnError(t *testing.T) {
	whole := batchOf(0).Batch
	for n := range whole {
		if _, err := ParseBatch(&Request{Batch: whole[:n]}); err == nil {
			t.Errorf("%d of %d bytes were taken for a batch", n, len(whole))
		}
	}
}
