// Package scriptclient does the operations of a stream on a scripted server as a program of a user's would: by the
// lines of docs/client.md. So what is measured through a client can be compared with what truly happened.
package scriptclient

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"brownout/loadgen/scriptserver/wire"
)

const (
	connectTimeout = 5 * time.Second
	longestLine    = 16 << 20
)

type request struct {
	Do, Key, Writer, Value, Namespace string
	ID, Sequence                      uint64
	DeadlineMS                        int64 `json:"deadline_ms"`
	Connection                        struct{ URI string }
}

type answer map[string]any

// client has a connection to each lane of the server, which carries many requests at a time.
type client struct {
	lanes  []*wire.Writer
	broken chan error

	mu      sync.Mutex
	out     *json.Encoder
	pending map[uint64]pending
}

type pending struct {
	write    bool
	deadline *time.Timer
}

// Run answers the requests of in until one of them is `close`, in ends or a connection breaks.
func Run(in io.Reader, out io.Writer) error {
	c := &client{broken: make(chan error, 1), out: json.NewEncoder(out), pending: map[uint64]pending{}}
	requests := make(chan request)
	go func() {
		defer close(requests)
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, longestLine)
		for lines.Scan() {
			var r request
			if json.Unmarshal(lines.Bytes(), &r) == nil {
				requests <- r
			}
		}
	}()
	for {
		select {
		case err := <-c.broken:
			return fmt.Errorf("the connection to the scripted server broke: %w", err)
		case r, more := <-requests:
			switch {
			case !more || r.Do == "close":
				return nil
			case r.Do != "open":
				c.begin(r)
			default:
				if err := c.open(r); err != nil {
					c.say(answer{"error": err.Error()})
					return err
				}
				c.say(answer{"opened": "scripted server", "settings": answer{"lanes": len(c.lanes)}})
			}
		}
	}
}

// open connects to every lane, which the server's first answer names.
func (c *client) open(r request) error {
	hello := &wire.Request{Verb: wire.Hello, Key: r.Namespace}
	first, reader, err := dial(strings.TrimPrefix(r.Connection.URI, "scripted://"), hello)
	if err != nil {
		return err
	}
	defer first.Close()
	var lanes wire.Response
	if err := reader.ReadResponse(&lanes); err != nil {
		return err
	}
	var nodes []struct{ Address string }
	if err := json.Unmarshal(lanes.Value, &nodes); err != nil || len(nodes) == 0 {
		return fmt.Errorf("what answers at %s is not a scripted server", r.Connection.URI)
	}
	for _, node := range nodes {
		lane, reader, err := dial(node.Address, hello)
		if err != nil {
			return err
		}
		c.lanes = append(c.lanes, lane)
		go c.read(reader)
	}
	return nil
}

func dial(address string, hello *wire.Request) (*wire.Writer, *wire.Reader, error) {
	connection, err := net.DialTimeout("tcp", address, connectTimeout)
	if err != nil {
		return nil, nil, err
	}
	writer := wire.NewWriter(connection)
	writer.Request(hello)
	return writer, wire.NewReader(connection), nil
}

// begin sends a read or a write to the lane of its key. It is unanswered at 98 % of its deadline, as with the clients
// in infra/clients: an answer takes a moment.
func (c *client) begin(r request) {
	sent := wire.Request{ID: r.ID, Verb: wire.Get, Key: r.Key}
	if r.Do == "write" {
		sent.Verb, sent.Writer, sent.Seq, sent.Value = wire.Put, r.Writer, r.Sequence, []byte(r.Value)
	}
	early := time.Duration(r.DeadlineMS) * time.Millisecond * 98 / 100
	c.mu.Lock()
	c.pending[r.ID] = pending{r.Do == "write", time.AfterFunc(early, func() {
		c.end(&wire.Response{ID: r.ID, Status: wire.InDoubt, Cause: "client-timeout-total"})
	})}
	c.mu.Unlock()
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(r.Key))
	c.lanes[hash.Sum32()%uint32(len(c.lanes))].Request(&sent)
}

func (c *client) read(reader *wire.Reader) {
	for {
		var got wire.Response
		if err := reader.ReadResponse(&got); err != nil {
			select {
			case c.broken <- err:
			default:
			}
			return
		}
		c.end(&got)
	}
}

// end answers a request, unless that was done.
func (c *client) end(got *wire.Response) {
	c.mu.Lock()
	of, waits := c.pending[got.ID]
	delete(c.pending, got.ID)
	c.mu.Unlock()
	if !waits {
		return
	}
	of.deadline.Stop()
	said := answer{"id": got.ID}
	switch {
	case got.Status == wire.OK && of.write:
		said["end"] = "ok"
	case got.Status == wire.OK:
		said["end"], said["value"] = "ok", string(got.Value)
	case got.Status == wire.Missing:
		said["end"], said["value"] = "ok", nil
	default:
		said["end"], said["cause"], said["code"] = "failed", got.Cause, got.Code
		if of.write && got.Status == wire.InDoubt {
			said["end"] = "in_doubt"
		}
	}
	c.say(said)
}

func (c *client) say(a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.out.Encode(a)
}
