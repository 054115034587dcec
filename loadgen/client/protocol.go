// Package client has the operations of a stream done by a program of the user's: any driver, pool,
// proxy, transaction or shape of documents. It speaks lines of JSON on stdin and stdout, which
// docs/client.md explains:
//
//	us   {"do": "open", "version": 1, "namespace": "brownout", "run": "…", "connection": {…}, …}
//	it   {"opened": "psycopg 3.2", "settings": {…}}
//	us   {"do": "write", "id": 7, "key": "orders:r00000007", "sequence": 9, "value": "…", …}
//	it   {"id": 7, "end": "ok"}
//
// Schedule, deadlines, ends, histograms and the ledger stay ours.
package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brownout/loadgen/driver"
	"brownout/loadgen/spec"
)

// version is that of the protocol.
const version = 1

// The values of request.Do.
const (
	doOpen  = "open"
	doRead  = "read"
	doWrite = "write"
	doClose = "close"
)

// The values of answer.End.
const (
	endOK      = "ok"
	endFailed  = "failed"
	endInDoubt = "in_doubt"
	endRefused = "refused"
)

// request is one line to the client.
type request struct {
	Do string `json:"do"`

	// Of open:
	Version    int            `json:"version,omitempty"`
	Namespace  string         `json:"namespace,omitempty"`
	Run        string         `json:"run,omitempty"`
	Stream     string         `json:"stream,omitempty"`
	Connection *connection    `json:"connection,omitempty"`
	Options    map[string]any `json:"options,omitzero"` // empty where there are none

	// Of read and write:
	ID         uint64 `json:"id,omitempty"`
	Key        string `json:"key,omitempty"`
	DeadlineMS int64  `json:"deadline_ms,omitempty"` // from now
	// Of write:
	Writer   string  `json:"writer,omitempty"`
	Sequence uint64  `json:"sequence,omitempty"`
	Value    string  `json:"value,omitempty"`
	Expect   *expect `json:"expect,omitempty"` // nil: whatever is there
}

// connection is where the driver of the other streams connects to as well.
type connection struct {
	*spec.Connection
	Database string `json:"database,omitempty"` // of a server with several
}

// expect is what has to be stored under the key, or the write is refused: nothing, or a write of the
// same writer whose sequence is one of these.
type expect struct {
	Missing bool  `json:"missing,omitempty"`
	First   int64 `json:"first,omitempty"`
	Last    int64 `json:"last,omitempty"`
}

// answer is one line of the client's: to open, or to the request with this id.
type answer struct {
	Opened   string         `json:"opened"`
	Settings map[string]any `json:"settings"`
	Error    string         `json:"error"`

	ID    *uint64 `json:"id"`
	End   string  `json:"end"`
	Cause string  `json:"cause"`
	Code  code    `json:"code"`
	Value *string `json:"value"` // of a read or a refused write; null: nothing is there
}

// code is a text or, as many drivers have it, a number.
type code string

func (c *code) UnmarshalJSON(text []byte) error {
	var words string
	if json.Unmarshal(text, &words) == nil {
		*c = code(words)
		return nil
	}
	var number json.Number
	err := json.Unmarshal(text, &number)
	*c = code(number)
	return err
}

// stored is all of a record in one line of plain characters: `WRITER SEQUENCE CHECKSUM VALUE`, the
// checksum in 8 hexadecimal digits and the value in base64.
func stored(record driver.Record, value []byte) string {
	return fmt.Sprintf("%s %d %08x %s", record.Writer, record.Seq, record.Checksum, base64.StdEncoding.EncodeToString(value))
}

// takeApart reads it; what is not of this shape is not valid.
func takeApart(id, text string) (f driver.Found) {
	parts := strings.Split(text, " ")
	if len(parts) != 4 {
		return f
	}
	seq, err1 := strconv.ParseUint(parts[1], 10, 64)
	checksum, err2 := strconv.ParseUint(parts[2], 16, 32)
	value, err3 := base64.StdEncoding.DecodeString(parts[3])
	if err1 != nil || err2 != nil || err3 != nil {
		return f
	}
	f.Record = &driver.Record{Writer: parts[0], Seq: seq, Checksum: uint32(checksum)}
	f.Valid = f.Record.Valid(id, value)
	return f
}

// readBack is what an answer says of a key.
func readBack(id string, value *string) driver.ReadBack {
	if value == nil {
		return driver.ReadBack{ID: id, Missing: true}
	}
	return takeApart(id, *value).ReadBack(id, false)
}

// causeOf is the client's cause if it is one of ours.
func causeOf(name string) driver.Cause {
	if cause := driver.Cause(name); slices.Contains(driver.Causes(), cause) {
		return cause
	}
	return driver.CauseOther
}
