// Package fabric carries what nodes tell each other: heartbeats, which are one way and frequent, and
// messages, which are queued for each peer. It knows nothing of what they mean.
package fabric

import (
	"encoding/binary"
	"fmt"
	"io"

	"brownout/infra/lab/asd/nodeid"
	"brownout/infra/lab/asd/record"
)

// Kind says what a message is; its receiver knows what to do with it.
type Kind byte

// Answer marks the answer to a question of that kind.
const Answer Kind = 0x80

// The kinds of message.
const (
	Prepare   Kind = iota + 1 // join this cluster; the answer is the node's exchange data
	Commit                    // all have answered: rebalance
	Replicate                 // store this version of a record
	Ask                       // what do you have of this record
	Proxy                     // do this request in my place
	Begin                     // a partition is about to come
	Carry                     // a record of it
	End                       // that was all of it
	Empty                     // in place of these three: a partition without records
	AllDone                   // everybody has what it is to have
	Truncate                  // forget a set's records up to a moment
)

// Message is one thing that one node tells another. Which fields are used depends on its kind.
type Message struct {
	Kind      Kind
	Code      byte
	Partition uint16
	From      nodeid.ID // filled in on arrival
	ID        uint64    // pairs an answer with its question
	Key       uint64    // of the cluster that the sender is in
	Node      nodeid.ID
	Digest    record.Digest
	Body      []byte
}

const (
	messageHead = 1 + 1 + 2 + 8 + 8 + 8 + 20 + 4
	maxBody     = 64 << 20
)

// Reply returns the answer to a message.
func (m Message) Reply(code byte, body []byte) Message {
	return Message{Kind: m.Kind | Answer, ID: m.ID, Code: code, Key: m.Key, Body: body}
}

func (m Message) write(w io.Writer) error {
	var head [messageHead]byte
	head[0], head[1] = byte(m.Kind), m.Code
	binary.BigEndian.PutUint16(head[2:], m.Partition)
	binary.BigEndian.PutUint64(head[4:], m.ID)
	binary.BigEndian.PutUint64(head[12:], m.Key)
	binary.BigEndian.PutUint64(head[20:], uint64(m.Node))
	copy(head[28:], m.Digest[:])
	binary.BigEndian.PutUint32(head[48:], uint32(len(m.Body)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(m.Body)
	return err
}

func readMessage(r io.Reader) (Message, error) {
	var head [messageHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Message{}, err
	}
	m := Message{
		Kind: Kind(head[0]), Code: head[1],
		Partition: binary.BigEndian.Uint16(head[2:]),
		ID:        binary.BigEndian.Uint64(head[4:]),
		Key:       binary.BigEndian.Uint64(head[12:]),
		Node:      nodeid.ID(binary.BigEndian.Uint64(head[20:])),
		Digest:    record.Digest(head[28:48]),
	}
	size := binary.BigEndian.Uint32(head[48:])
	if size > maxBody {
		return Message{}, fmt.Errorf("a message of %d bytes, wanted at most %d", size, maxBody)
	}
	m.Body = make([]byte, size)
	_, err := io.ReadFull(r, m.Body)
	return m, err
}
