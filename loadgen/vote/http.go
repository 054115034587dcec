package vote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/spec"
	"brownout/loadgen/web"
)

// HTTP does votes through the endpoint, which it starts and ends; all else goes to the
// driver as it is, so that what is read back comes from the database itself.
type HTTP struct {
	driver.Driver
	spec     *spec.Spec
	stream   int
	endpoint *endpoint
	client   *http.Client
}

var _ driver.Driver = (*HTTP)(nil)

// Wrap gives a driver what the votes of a specification need: the endpoint, or the steps
// themselves. A specification without votes leaves the driver as it is.
func Wrap(d driver.Driver, s *spec.Spec) driver.Driver {
	if stream := streamOf(s); stream >= 0 {
		return &HTTP{Driver: Direct{d}, spec: s, stream: stream}
	}
	for i := range s.Streams {
		if s.Streams[i].Vote != nil {
			return Direct{d}
		}
	}
	return d
}

// Open connects the driver and starts the endpoint.
func (h *HTTP) Open(ctx context.Context, config driver.Config) error {
	if err := h.Driver.Open(ctx, config); err != nil {
		return err
	}
	started, err := start(h.spec)
	if err != nil {
		return err
	}
	h.endpoint = started
	connections := h.spec.Streams[h.stream].Vote.Connections
	h.client = &http.Client{Transport: &http.Transport{
		MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, DisableCompression: true,
	}}
	return nil
}

// Settings are the driver's, and the endpoint's.
func (h *HTTP) Settings() map[string]any {
	settings := maps.Clone(h.Driver.Settings())
	settings["voting_endpoint"] = map[string]any{
		"url":         "http://" + h.endpoint.address + "/vote?u=VOTER&v=CHOICE",
		"connections": h.spec.Streams[h.stream].Vote.Connections,
		"method":      "POST: the client repeats no request by itself",
	}
	return settings
}

// LaneCap leaves room for every connection to the endpoint.
func (h *HTTP) LaneCap() int {
	return max(h.Driver.LaneCap(), h.spec.Streams[h.stream].Vote.Connections)
}

// InDoubtFor is how long the endpoint may still work on what its client has given up, and
// the database on what the endpoint has.
func (h *HTTP) InDoubtFor() time.Duration { return 2 * h.Driver.InDoubtFor() }

// Lane is the endpoint for its votes.
func (h *HTTP) Lane(op *driver.Op) string {
	if op.Kind == driver.Vote && op.Stream == h.stream {
		return laneHTTP
	}
	return h.Driver.Lane(op)
}

// Do sends a vote to the endpoint.
func (h *HTTP) Do(ctx context.Context, op *driver.Op) driver.Result {
	if op.Kind != driver.Vote || op.Stream != h.stream {
		return h.Driver.Do(ctx, op)
	}
	var sent atomic.Bool // told by a goroutine of the client
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { sent.Store(true) },
	})
	said, err := h.ask(traced, op.Ballot)
	if err != nil {
		return lost(err, op.Ballot, sent.Load())
	}
	op.Ballot.Parts = said.Parts
	return driver.Result{Class: said.Class, Cause: said.Cause, Code: said.Code, Sent: true, Attempts: 1}
}

func (h *HTTP) ask(ctx context.Context, ballot *driver.Ballot) (answer, error) {
	query := url.Values{"u": {strconv.FormatUint(ballot.Voter, 10)}, "v": {ballot.Choice}}
	target := "http://" + h.endpoint.address + "/vote?" + query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, nil)
	if err != nil {
		return answer{}, err
	}
	response, err := h.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	var said answer
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		return answer{}, fmt.Errorf("status %d: %w", response.StatusCode, err)
	}
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection is used again
	return said, nil
}

// lost is the result of a vote on which the endpoint did not say its word: of what was sent
// every step is in doubt.
func lost(err error, ballot *driver.Ballot, sent bool) driver.Result {
	result := driver.Result{Class: driver.Failed, Cause: web.CauseOf(err), Code: "http", Sent: sent, Attempts: 1}
	ballot.Parts = [driver.Steps]driver.Part{}
	if sent {
		result.Class = driver.InDoubt
		for step := range ballot.Parts {
			ballot.Parts[step] = driver.PartInDoubt
		}
	}
	return result
}

// Unwrap is the driver that all else goes to.
func (h *HTTP) Unwrap() driver.Driver { return h.Driver }

// Close ends the endpoint and disconnects.
func (h *HTTP) Close() {
	if h.endpoint != nil {
		h.client.CloseIdleConnections()
		h.endpoint.close()
	}
	h.Driver.Close()
}
