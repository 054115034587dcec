package scriptserver

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// Server is one scripted cluster.
type Server struct {
	script *Script
	lanes  []*lane
	nodes  []node
	born   time.Time
	quit   chan struct{}
	failed chan error

	mu    sync.Mutex
	zero  time.Time // of the script; the zero time before the start
	turns []moment
	timer chan struct{} // ends the timeline of an earlier start
}

// moment is when an effect on connections began or ended, as it happened.
type moment struct {
	effect int
	began  time.Duration
	ended  time.Duration
}

// New starts a server. Its first lane listens on address; that is also where
// clients learn of the others, which get free ports of the same host.
func New(script *Script, address string) (*Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address (wanted HOST:PORT): %w", address, err)
	}
	s := &Server{script: script, born: time.Now(), quit: make(chan struct{}), failed: make(chan error, 1)}
	for i := range script.Lanes {
		l := newLane(s, i, fmt.Sprintf("lane-%d", i))
		at, err := l.listen(address)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("cannot listen: %w", err)
		}
		address = net.JoinHostPort(host, "0")
		s.lanes = append(s.lanes, l)
		s.nodes = append(s.nodes, node{l.name, at})
	}
	for _, l := range s.lanes {
		go l.run()
	}
	return s, nil
}

// Address is where clients begin.
func (s *Server) Address() string { return s.nodes[0].Address }

// Failed gives the error after which the server cannot continue.
func (s *Server) Failed() <-chan error { return s.failed }

func (s *Server) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// now is the time on the server's own clock, and on the script's: negative
// before the start.
func (s *Server) now() (clock, t time.Duration) {
	at := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.zero.IsZero() {
		return at.Sub(s.born), -1
	}
	return at.Sub(s.born), at.Sub(s.zero)
}

// begin starts the script, whose time zero was ago nanoseconds ago. A further
// start plays it again.
func (s *Server) begin(ago int64) {
	s.mu.Lock()
	if s.timer != nil {
		close(s.timer)
	}
	s.zero, s.timer, s.turns = time.Now().Add(-time.Duration(ago)), make(chan struct{}), nil
	ended := s.timer
	s.mu.Unlock()
	for _, l := range s.lanes {
		l.restart(s.script)
	}
	for i := range s.script.Effects {
		if e := &s.script.Effects[i]; e.Effect == Refuse || e.Effect == Drop {
			go s.cut(i, e, ended)
		}
	}
}

func (l *lane) restart(script *Script) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.decider, l.truth, l.held = newDecider(script, l.id), newLaneTruth(), 0
}

// cut plays an effect on connections.
func (s *Server) cut(i int, e *Effect, ended <-chan struct{}) {
	if !s.until(e.start(), ended) {
		return
	}
	turn := moment{effect: i}
	_, turn.began = s.now()
	for _, l := range s.lanes {
		if e.on(l.id) {
			l.drop(e.Effect == Refuse)
		}
	}
	alive := e.Effect == Drop || s.until(e.end(), ended)
	if e.Effect == Refuse {
		for _, l := range s.lanes {
			if e.on(l.id) {
				s.reopen(l)
			}
		}
	}
	_, turn.ended = s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if alive {
		s.turns = append(s.turns, turn)
	}
}

// reopen listens where the lane listened before, unless all is over.
func (s *Server) reopen(l *lane) {
	select {
	case <-s.quit:
		return
	default:
	}
	if _, err := l.listen(s.nodes[l.id].Address); err != nil {
		s.fail(fmt.Errorf("cannot listen again: %w", err))
	}
}

// until waits for a time on the script's clock.
func (s *Server) until(t time.Duration, ended <-chan struct{}) bool {
	_, now := s.now()
	timer := time.NewTimer(t - now)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ended:
	case <-s.quit:
	}
	return false
}

// Close ends everything at once.
func (s *Server) Close() {
	close(s.quit)
	for _, l := range s.lanes {
		l.drop(true)
	}
}
