package record

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func filled(seed uint64, values int) *hdr.Histogram {
	random := rand.New(rand.NewPCG(seed, 1))
	histogram := hdr.New(1, 3_600_000_000, 3)
	for range values {
		us := int64(200 + 300*random.ExpFloat64())
		if random.IntN(100) == 0 {
			us = 1 + random.Int64N(3_600_000_000)
		}
		if err := histogram.RecordValues(us, 1+random.Int64N(1<<random.IntN(40))); err != nil {
			panic(err)
		}
	}
	return histogram
}

// plainOf is what a payload holds: its cookie, and the bytes of its zlib stream.
func plainOf(t *testing.T, payload []byte) []byte {
	t.Helper()
	packed, err := base64.StdEncoding.AppendDecode(nil, payload)
	if err != nil || int(binary.BigEndian.Uint32(packed[4:])) != len(packed)-8 {
		t.Fatalf("%s: %v, %d bytes", payload, err, len(packed))
	}
	stream, err := zlib.NewReader(bytes.NewReader(packed[8:]))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	return append(packed[:4:4], plain...)
}

func TestAPayloadHoldsWhatThatOfTheLibraryHolds(t *testing.T) {
	var made encoder
	for seed := range uint64(200) {
		histogram := filled(seed, int(seed*seed))
		got, err := made.append([]byte("before,"), histogram)
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := histogram.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		mine, ok := bytes.CutPrefix(got, []byte("before,"))
		if !ok || !bytes.Equal(plainOf(t, mine), plainOf(t, wanted)) {
			t.Fatalf("seed %d: %s, wanted %s", seed, got, wanted)
		}
		if read, err := hdr.Decode(mine); err != nil || !read.Equals(histogram) {
			t.Fatalf("seed %d: the library reads another histogram: %v", seed, err)
		}
	}
}

func BenchmarkPayload(b *testing.B) {
	histogram := filled(1, 5000)
	b.Run("ours", func(b *testing.B) {
		var made encoder
		var log []byte
		for b.Loop() {
			log, _ = made.append(log[:0], histogram)
		}
	})
	b.Run("the library's", func(b *testing.B) {
		for b.Loop() {
			_, _ = histogram.Encode(hdr.V2CompressedEncodingCookieBase)
		}
	})
}
