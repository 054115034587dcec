package fabric

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"time"

	"brownout/infra/lab/asd/nodeid"
)

// Pulse is one heartbeat: who sends it, where it is to be reached, which cluster it believes to be
// in (0 means none), whom it sees, and where those take heartbeats.
type Pulse struct {
	From      nodeid.ID
	Cluster   string
	Key       uint64
	Heartbeat string
	Fabric    string
	Service   string
	Sees      []nodeid.ID
	Contacts  []string
}

// Together waits for the next multiple of interval on the machine's clock and returns a ticker that
// begins there. All nodes of a lab then wake at the same moments, each once for all its peers, which
// takes little more than half the processor time while they are idle.
func Together(interval time.Duration) *time.Ticker {
	now := time.Now()
	time.Sleep(now.Truncate(interval).Add(interval).Sub(now))
	return time.NewTicker(interval)
}

// Beat sends what next returns to the heartbeat address of one peer every interval, for as long as
// ctx lasts. A peer that does not take it is dialled again.
func Beat(ctx context.Context, address string, interval time.Duration, next func() Pulse) {
	conn := beatOnce(nil, address, interval, next)
	tick := Together(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if conn != nil {
				conn.Close()
			}
			return
		case <-tick.C:
			conn = beatOnce(conn, address, interval, next)
		}
	}
}

// beatOnce sends one heartbeat and returns the connection for the next one, nil to dial again.
func beatOnce(conn net.Conn, address string, interval time.Duration, next func() Pulse) net.Conn {
	if conn == nil {
		var err error
		if conn, err = net.DialTimeout("tcp", address, interval); err != nil {
			return nil
		}
	}
	line, err := json.Marshal(next())
	if err == nil {
		conn.SetWriteDeadline(time.Now().Add(interval))
		_, err = conn.Write(append(line, '\n'))
	}
	if err != nil {
		conn.Close()
		return nil
	}
	return conn
}

// Listen hands each heartbeat that arrives to heard, until the listener is closed.
func Listen(listener net.Listener, heard func(Pulse)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go listenTo(conn, heard)
	}
}

func listenTo(conn net.Conn, heard func(Pulse)) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		var pulse Pulse
		if json.Unmarshal(lines.Bytes(), &pulse) == nil && pulse.From != 0 {
			heard(pulse)
		}
	}
}
