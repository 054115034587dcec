// Package wire is the protocol between the scripted driver and the scripted
// server: frames with a length before them, many under way on one connection.
package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Verb is what a request wants.
type Verb uint8

// The verbs. The first three follow the script; the others work at once,
// whatever the script says.
const (
	Get Verb = iota
	Put
	Increment
	Store // Put of the load phase
	Peek  // Get after the run
	Hello // names the connection's namespace; answers with the lanes
	Claim // takes the namespace for a writer; fails if it is not ours
	Clear // empties the namespace
	Go    // the schedule began Number nanoseconds ago
	verbs
)

// Status is how a request went.
type Status uint8

// The statuses.
const (
	OK Status = iota
	Missing
	Failed
	InDoubt
)

// Request is one request. Key and Value are only valid until the next Read.
type Request struct {
	ID       uint64
	Verb     Verb
	Key      string
	Writer   string
	Seq      uint64
	Checksum uint32
	Number   int64
	Value    []byte
}

// Response is one answer. Value is only valid until the next Read.
type Response struct {
	ID       uint64
	Status   Status
	Cause    string
	Code     string
	Writer   string
	Seq      uint64
	Checksum uint32
	Number   int64
	Value    []byte
}

// longest bounds a frame: a peer that is not ours is noticed at once.
const longest = 16 << 20

var errFrame = errors.New("this is not a frame of the scripted protocol")

// AppendRequest appends a request's frame.
func AppendRequest(to []byte, r *Request) []byte {
	at := len(to)
	to = appendHead(to, r.ID, byte(r.Verb), r.Seq, r.Checksum, r.Number)
	to = appendText(appendText(to, r.Key), r.Writer)
	return closeFrame(append(to, r.Value...), at)
}

// AppendResponse appends a response's frame.
func AppendResponse(to []byte, r *Response) []byte {
	at := len(to)
	to = appendHead(to, r.ID, byte(r.Status), r.Seq, r.Checksum, r.Number)
	to = appendText(appendText(appendText(to, r.Cause), r.Code), r.Writer)
	return closeFrame(append(to, r.Value...), at)
}

func appendHead(to []byte, id uint64, kind byte, seq uint64, checksum uint32, number int64) []byte {
	to = append(to, 0, 0, 0, 0) // the length, once it is known
	to = binary.BigEndian.AppendUint64(to, id)
	to = append(to, kind)
	to = binary.BigEndian.AppendUint64(to, seq)
	to = binary.BigEndian.AppendUint32(to, checksum)
	return binary.BigEndian.AppendUint64(to, uint64(number))
}

func appendText(to []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint16(to, uint16(len(text))), text...)
}

func closeFrame(frame []byte, at int) []byte {
	binary.BigEndian.PutUint32(frame[at:], uint32(len(frame)-at-4))
	return frame
}

// Reader reads frames.
type Reader struct {
	from  *bufio.Reader
	frame []byte
	texts map[string]string
}

// NewReader returns a reader of frames.
func NewReader(from io.Reader) *Reader {
	return &Reader{from: bufio.NewReaderSize(from, 1<<16), texts: map[string]string{}}
}

const headSize = 8 + 1 + 8 + 4 + 8

func (r *Reader) next() ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r.from, length[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(length[:]))
	if n < headSize || n > longest {
		return nil, errFrame
	}
	if cap(r.frame) < n {
		r.frame = make([]byte, n)
	}
	r.frame = r.frame[:n]
	_, err := io.ReadFull(r.from, r.frame)
	return r.frame, err
}

// ReadRequest reads one request into into.
func (r *Reader) ReadRequest(into *Request) error {
	frame, err := r.next()
	if err != nil {
		return err
	}
	*into = Request{ID: binary.BigEndian.Uint64(frame), Verb: Verb(frame[8])}
	if into.Verb >= verbs {
		return fmt.Errorf("%w: verb %d", errFrame, into.Verb)
	}
	into.Seq, into.Checksum, into.Number = numbers(frame)
	key, rest, err := text(frame[headSize:])
	if err != nil {
		return err
	}
	writer, value, err := text(rest)
	into.Key, into.Writer, into.Value = string(key), r.known(writer), value
	return err
}

// ReadResponse reads one response into into.
func (r *Reader) ReadResponse(into *Response) error {
	frame, err := r.next()
	if err != nil {
		return err
	}
	*into = Response{ID: binary.BigEndian.Uint64(frame), Status: Status(frame[8])}
	into.Seq, into.Checksum, into.Number = numbers(frame)
	rest := frame[headSize:]
	for _, field := range []*string{&into.Cause, &into.Code, &into.Writer} {
		var found []byte
		if found, rest, err = text(rest); err != nil {
			return err
		}
		*field = r.known(found)
	}
	into.Value = rest
	return nil
}

func numbers(frame []byte) (seq uint64, checksum uint32, number int64) {
	return binary.BigEndian.Uint64(frame[9:]), binary.BigEndian.Uint32(frame[17:]),
		int64(binary.BigEndian.Uint64(frame[21:]))
}

func text(from []byte) (found, rest []byte, err error) {
	if len(from) < 2 {
		return nil, nil, errFrame
	}
	n := int(binary.BigEndian.Uint16(from))
	if len(from) < 2+n {
		return nil, nil, errFrame
	}
	return from[2 : 2+n], from[2+n:], nil
}

// known returns the few texts that come again and again without a copy.
func (r *Reader) known(text []byte) string {
	if found, ok := r.texts[string(text)]; ok {
		return found
	}
	copied := string(text)
	if len(r.texts) < 64 {
		r.texts[copied] = copied
	}
	return copied
}
