// Package standin is a stand-in for a MongoDB router (mongos): a small server of
// our own that speaks OP_MSG in front of real replica sets, one a shard. It says
// what a mongos says of itself (`msg: isdbgrid`), serves config.shards,
// config.databases, config.collections and config.chunks, and sends what
// concerns one key to the primary of its shard. It is not a mongos: no balancer, no
// transactions, no causal sessions, no cursors beyond the first batch, no retryable writes.
// What is measured through it says nothing about mongos.
package standin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Opcodes of the wire protocol: OP_QUERY is what drivers greet with.
const (
	opReply = 1
	opQuery = 2004
	opMsg   = 2013

	headerBytes  = 16
	longest      = 48_000_000
	flagChecksum = 1
)

// request is one message: a command with its document sequences folded in.
type request struct {
	id      uint32
	legacy  bool // answered by OP_REPLY
	command bson.D
}

func readRequest(from io.Reader) (*request, error) {
	header := make([]byte, headerBytes)
	if _, err := io.ReadFull(from, header); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(header)
	if length < headerBytes || length > longest {
		return nil, fmt.Errorf("a message of %d bytes", length)
	}
	body := make([]byte, length-headerBytes)
	if _, err := io.ReadFull(from, body); err != nil {
		return nil, err
	}
	found := &request{id: binary.LittleEndian.Uint32(header[4:])}
	switch code := binary.LittleEndian.Uint32(header[12:]); code {
	case opMsg:
		return found, found.readMsg(body)
	case opQuery:
		found.legacy = true
		return found, found.readQuery(body)
	default:
		return nil, fmt.Errorf("opcode %d", code)
	}
}

var errShort = errors.New("a message that ends too early")

func (r *request) readMsg(body []byte) error {
	if len(body) >= 8 && binary.LittleEndian.Uint32(body)&flagChecksum != 0 {
		body = body[:len(body)-4]
	}
	if len(body) < 5 {
		return errShort
	}
	sequences := bson.D{}
	for body = body[4:]; len(body) > 0; {
		kind, rest := body[0], body[1:]
		size, err := sizeOf(rest)
		if err != nil {
			return err
		}
		section := rest[:size]
		body = rest[size:]
		if kind == 0 {
			err = bson.Unmarshal(section, &r.command)
		} else {
			err = readSequence(section[4:], &sequences)
		}
		if err != nil {
			return err
		}
	}
	r.command = append(r.command, sequences...)
	return nil
}

// readSequence reads `documents` of an insert and their like.
func readSequence(section []byte, into *bson.D) error {
	end := 0
	for end < len(section) && section[end] != 0 {
		end++
	}
	if end == len(section) {
		return errShort
	}
	documents := bson.A{}
	for rest := section[end+1:]; len(rest) > 0; {
		size, err := sizeOf(rest)
		if err != nil {
			return err
		}
		documents = append(documents, bson.Raw(rest[:size]))
		rest = rest[size:]
	}
	*into = append(*into, bson.E{Key: string(section[:end]), Value: documents})
	return nil
}

// readQuery reads the greeting: flags, name of a collection, two numbers, a document.
func (r *request) readQuery(body []byte) error {
	for at := 4; at < len(body); at++ {
		if body[at] == 0 && len(body) > at+9 {
			return bson.Unmarshal(body[at+9:], &r.command)
		}
	}
	return errShort
}

func sizeOf(data []byte) (int, error) {
	if len(data) < 4 {
		return 0, errShort
	}
	size := int(binary.LittleEndian.Uint32(data))
	if size < 5 || size > len(data) {
		return 0, errShort
	}
	return size, nil
}

func (r *request) answer(to net.Conn, reply bson.D) error {
	document, err := bson.Marshal(reply)
	if err != nil {
		return err
	}
	code, front := uint32(opMsg), make([]byte, 5) // flags, and a section of kind 0
	if r.legacy {
		code, front = opReply, make([]byte, 20) // flags, cursor, where from, how many
		front[16] = 1
	}
	message := make([]byte, 0, headerBytes+len(front)+len(document))
	for _, number := range []uint32{uint32(headerBytes + len(front) + len(document)), 0, r.id, code} {
		message = binary.LittleEndian.AppendUint32(message, number)
	}
	_, err = to.Write(append(append(message, front...), document...))
	return err
}
