package scriptserver

import (
	"encoding/json"
	"net"

	"brownout/loadgen/scriptserver/wire"
)

// link is one client's connection to one lane.
type link struct {
	lane      *lane
	out       *wire.Writer
	namespace string
}

// listen accepts connections from now on, and returns where.
func (l *lane) listen(address string) (string, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	l.listener = listener
	l.mu.Unlock()
	go l.accept(listener)
	return listener.Addr().String(), nil
}

func (l *lane) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return // it was closed
		}
		go l.talk(conn)
	}
}

// talk reads requests until the connection ends.
func (l *lane) talk(conn net.Conn) {
	from := &link{lane: l, out: wire.NewWriter(conn)}
	l.mu.Lock()
	refusing := l.listener == nil
	if !refusing {
		l.links[from] = struct{}{}
	}
	l.mu.Unlock()
	reader := wire.NewReader(conn)
	var r wire.Request
	for !refusing && reader.ReadRequest(&r) == nil {
		switch r.Verb {
		case wire.Get, wire.Put, wire.Increment:
			l.receive(from, &r)
		default:
			answer := l.control(from, &r)
			answer.ID = r.ID
			from.out.Response(&answer)
		}
	}
	l.mu.Lock()
	delete(l.links, from)
	l.mu.Unlock()
	from.out.Close()
}

// control answers what is not part of the load.
func (l *lane) control(from *link, r *wire.Request) (answer wire.Response) {
	if r.Verb == wire.Go {
		l.server.begin(r.Number)
		return answer
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r.Verb {
	case wire.Hello:
		from.namespace = r.Key
		answer.Value = l.server.directory()
	case wire.Claim:
		if !l.space(from.namespace).claim(r.Writer) {
			answer.Status, answer.Writer = wire.Failed, l.space(from.namespace).owner
		}
	case wire.Clear:
		delete(l.spaces, from.namespace)
	case wire.Store:
		if r.Writer == "" { // a counter has none
			l.space(from.namespace).at(r.Key).counter = 0
		} else {
			l.space(from.namespace).put(r)
		}
	case wire.Peek:
		l.space(from.namespace).get(r.Key, &answer)
		answer.Value = append([]byte(nil), answer.Value...)
	}
	return answer
}

// drop ends every connection. A server that refuses also forgets what it had
// received and not done.
func (l *lane) drop(refuse bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if refuse {
		l.truth.Discarded += uint64(len(l.work))
		l.work = nil
		if l.listener != nil {
			_ = l.listener.Close()
			l.listener = nil
		}
	}
	for from := range l.links {
		from.out.Close()
	}
}

// node is what a client learns of a lane.
type node struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// directory lists the lanes' addresses, which never change.
func (s *Server) directory() []byte {
	text, err := json.Marshal(s.nodes)
	if err != nil {
		return nil
	}
	return text
}
