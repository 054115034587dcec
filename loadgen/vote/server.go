package vote

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/model"
	"brownout/loadgen/spec"
)

// answer is what the endpoint says of one vote: the steps in words, and of one that was not
// ok why.
type answer struct {
	Parts [driver.Steps]driver.Part `json:"parts"`
	Class driver.Class              `json:"class"`
	Cause driver.Cause              `json:"cause,omitempty"`
	Code  string                    `json:"code,omitempty"`
}

// Server is the endpoint: `/vote?u=VOTER&v=CHOICE`, 200 if the whole vote is stored.
type Server struct {
	driver   driver.Driver
	stream   int
	wanted   *spec.Stream
	listener net.Listener
	http     http.Server
}

// NewServer listens on a free port of this machine. The driver is open.
func NewServer(s *spec.Spec, stream int, d driver.Driver) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &Server{driver: d, stream: stream, wanted: &s.Streams[stream], listener: listener}
	mux := http.NewServeMux()
	mux.HandleFunc("/vote", server.vote)
	server.http.Handler = mux
	return server, nil
}

// Address is where it listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Serve answers until the end of ctx.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.http.Close() })
	defer stop()
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// vote does one vote. It continues when the client has hung up: what was begun is ended, or
// it would be unknown what is stored.
func (s *Server) vote(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	voter, err := strconv.ParseUint(query.Get("u"), 10, 63)
	choice := slices.Index(s.wanted.Vote.Choices, query.Get("v"))
	if err != nil || choice < 0 {
		http.Error(w, "wanted /vote?u=NUMBER&v=CHOICE", http.StatusBadRequest)
		return
	}
	limit := time.Duration(s.wanted.DeadlineS * float64(time.Second))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), limit)
	defer cancel()
	ballot := model.BallotOf(s.wanted.Name, s.wanted.Vote, voter, choice)
	result := Cast(ctx, s.driver, s.stream, ballot)
	w.Header().Set("Content-Type", "application/json")
	if result.Class != driver.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(answer{ballot.Parts, result.Class, result.Cause, result.Code})
}
