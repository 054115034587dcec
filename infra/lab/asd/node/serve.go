package node

import (
	"bufio"
	"net"

	"brownout/infra/lab/asd/wire"
)

// serve takes clients' connections until the listener is closed.
func (n *Node) serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		n.connections.Store(conn, nil)
		n.opened.Add(1)
		n.clients.Add(1)
		go func() {
			n.serveClient(conn)
			conn.Close()
			n.connections.Delete(conn)
			n.clients.Add(-1)
		}()
	}
}

// serveClient answers one request after the other.
func (n *Node) serveClient(conn net.Conn) {
	in := bufio.NewReaderSize(conn, 1<<14)
	for {
		frame, err := wire.ReadFrame(in)
		if err != nil {
			return
		}
		answer, ok := n.respond(frame)
		if !ok {
			n.counts.Add("demarshal_error")
			return
		}
		if _, err := conn.Write(answer.Append(nil)); err != nil {
			return
		}
	}
}

// respond returns the answer to one frame; not ok is a client that speaks something else.
func (n *Node) respond(frame wire.Frame) (wire.Frame, bool) {
	switch frame.Kind {
	case wire.FrameInfo:
		return wire.Frame{Kind: wire.FrameInfo, Body: []byte(n.info(string(frame.Body)))}, true
	case wire.FrameSecurity:
		return refuseLogin(), true
	case wire.FrameMessage:
		r, err := wire.ParseRequest(frame.Body)
		if err != nil {
			return wire.Frame{}, false
		}
		if r.Batch != nil {
			return n.batch(r), true
		}
		return n.answer(r, fromClient).Frame(), true
	}
	return wire.Frame{}, false
}

// refuseLogin is the Community Edition's answer to user and password: it has no such thing. The
// result is the second byte of a header of 16.
func refuseLogin() wire.Frame {
	body := make([]byte, 16)
	body[1] = byte(wire.SecurityUnsupport)
	return wire.Frame{Kind: wire.FrameSecurity, Body: body}
}
