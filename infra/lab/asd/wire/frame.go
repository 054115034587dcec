// Package wire is the client protocol of Aerospike as official clients speak it: frames, messages,
// fields, operations and result codes. It knows nothing of records, partitions or clusters.
package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// Kinds of frame; what else a client sends is refused.
const (
	FrameInfo       byte = 1
	FrameSecurity   byte = 2
	FrameMessage    byte = 3
	FrameCompressed byte = 4
)

const (
	protocolVersion = 2
	frameHeader     = 8
	// MaxFrame bounds what one client can make the server hold: the real one's limit too.
	MaxFrame = 128 << 20
	// trusted is the size of a frame that is worth no care.
	trusted = 1 << 20
)

// Frame is one message in either direction: version and kind in two bytes, length in six.
type Frame struct {
	Kind byte
	Body []byte
}

// ReadFrame reads the next frame; io.EOF only between two frames.
func ReadFrame(r io.Reader) (Frame, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	word := binary.BigEndian.Uint64(head[:])
	if head[0] != protocolVersion {
		return Frame{}, fmt.Errorf("frame of protocol version %d, wanted %d", head[0], protocolVersion)
	}
	size := word & (1<<48 - 1)
	if size > MaxFrame {
		return Frame{}, fmt.Errorf("frame of %d bytes, wanted at most %d", size, MaxFrame)
	}
	body, err := readBody(r, int(size))
	if err != nil {
		return Frame{}, fmt.Errorf("frame cut off: %w", err)
	}
	return Frame{Kind: head[1], Body: body}, nil
}

// readBody takes memory as the bytes of a large frame come, not as its header promises them.
func readBody(r io.Reader, size int) ([]byte, error) {
	if size <= trusted {
		body := make([]byte, size)
		_, err := io.ReadFull(r, body)
		return body, err
	}
	var body bytes.Buffer
	_, err := io.CopyN(&body, r, int64(size))
	return body.Bytes(), err
}

// Append writes the frame to the end of dst.
func (f Frame) Append(dst []byte) []byte {
	word := uint64(protocolVersion)<<56 | uint64(f.Kind)<<48 | uint64(len(f.Body))
	dst = binary.BigEndian.AppendUint64(dst, word)
	return append(dst, f.Body...)
}
