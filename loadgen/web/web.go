// Package web does the operations of the streams that ask an HTTP endpoint of the application in
// place of the database. It judges the answers and keeps no ledger: what the application stores
// is the application's own.
package web

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/spec"
)

const (
	// mostRead is how much of an answer is read: more of it is not looked at.
	mostRead = 1 << 20
	// mostIdle is how many connections without a request are kept open for the next ones.
	mostIdle = 1024
	// codeNoText is the code of an answer whose status counts, without the text that it must have.
	codeNoText = "no text"
)

// Driver does the operations of the streams with an endpoint by HTTP, and all others by the
// driver that it is around.
type Driver struct {
	driver.Driver
	streams map[int]*stream
}

// stream is one with an endpoint. It has a connection pool of its own.
type stream struct {
	spec     *spec.Stream
	client   *http.Client
	sequence atomic.Uint64
}

// Wrap gives a driver the endpoints that streams name. A specification without any leaves it as
// it is.
func Wrap(d driver.Driver, s *spec.Spec) driver.Driver {
	streams := map[int]*stream{}
	for i := range s.Streams {
		if s.Streams[i].HTTP != nil {
			streams[i] = &stream{spec: &s.Streams[i], client: clientFor(s.Streams[i].HTTP)}
		}
	}
	if len(streams) == 0 {
		return d
	}
	return &Driver{Driver: d, streams: streams}
}

// clientFor returns a client that follows no redirect and asks no proxy. The lane's cap limits
// its connections, so it speaks HTTP/1.1 only: HTTP/2 would send all requests over one connection.
func clientFor(endpoint *spec.Endpoint) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{
		Transport: &http.Transport{
			Protocols: protocols, DisableCompression: true, DisableKeepAlives: !endpoint.KeepAlive,
			MaxIdleConns: mostIdle, MaxIdleConnsPerHost: mostIdle, IdleConnTimeout: 90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Unwrap returns the driver of the other streams.
func (d *Driver) Unwrap() driver.Driver { return d.Driver }

// Settings are the driver's, and what is asked of each endpoint; no headers, which may be secret.
func (d *Driver) Settings() map[string]any {
	all := maps.Clone(d.Driver.Settings())
	endpoints := map[string]any{}
	for _, s := range d.streams {
		asked := map[string]any{"client": "net/http, HTTP/1.1", "keep_alive": s.spec.HTTP.KeepAlive}
		for kind, request := range s.spec.HTTP.Requests {
			asked[kind] = request.Method + " " + request.URL
		}
		endpoints[s.spec.Name] = asked
	}
	all["http"] = endpoints
	return all
}

// Lane names the endpoint, whatever server answers there.
func (d *Driver) Lane(op *driver.Op) string {
	if s := d.streams[op.Stream]; s != nil {
		return "http " + s.spec.Name
	}
	return d.Driver.Lane(op)
}

// Do does one operation.
func (d *Driver) Do(ctx context.Context, op *driver.Op) driver.Result {
	if s := d.streams[op.Stream]; s != nil {
		return s.do(ctx, op)
	}
	return d.Driver.Do(ctx, op)
}

// Close gives the connections up.
func (d *Driver) Close() {
	for _, s := range d.streams {
		s.client.CloseIdleConnections()
	}
	d.Driver.Close()
}

// do sends the request of an operation, once.
func (s *stream) do(ctx context.Context, op *driver.Op) driver.Result {
	wanted := s.spec.HTTP.Requests[op.Kind.String()]
	result := driver.Result{Attempts: 1}
	var connected, sent atomic.Bool // set by goroutines of the client
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { connected.Store(true) },
		WroteHeaders: func() { sent.Store(true) },
	})
	request, err := s.request(ctx, wanted, op.Key)
	if err != nil {
		result.Class, result.Cause, result.Code = driver.Failed, driver.CauseOther, "bad request"
		return result
	}
	response, err := s.client.Do(request)
	if err == nil {
		defer response.Body.Close()
		var body []byte
		if body, err = io.ReadAll(io.LimitReader(response.Body, mostRead)); err == nil {
			return judged(op, wanted, response.StatusCode, string(body))
		}
	}
	result.Sent, result.Class, result.Cause, result.Code = sent.Load(), driver.Failed, CauseOf(err), "no answer"
	if result.Cause == driver.CauseTotalTimeout && !connected.Load() {
		result.Cause = driver.CauseConnectTimeout
	}
	if result.Sent && op.Kind.Write() {
		result.Class = driver.InDoubt
	}
	return result
}

// request fills the templates in.
func (s *stream) request(ctx context.Context, wanted *spec.Request, key uint64) (*http.Request, error) {
	fill := strings.NewReplacer(
		"{key}", strconv.FormatUint(key, 10), "{sequence}", strconv.FormatUint(s.sequence.Add(1), 10),
	).Replace
	// A body that cannot be read twice: the client would repeat a read on a broken connection. It
	// finds out by itself where this is empty.
	var body io.Reader = io.NopCloser(strings.NewReader(""))
	if wanted.Body != "" || (wanted.Method != http.MethodGet && wanted.Method != http.MethodHead) {
		body = strings.NewReader(fill(wanted.Body))
	}
	request, err := http.NewRequestWithContext(ctx, wanted.Method, fill(wanted.URL), body)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	request.GetBody = nil
	for name, value := range wanted.Headers {
		request.Header.Set(name, value)
	}
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
	}
	return request, nil
}

// judged is the result of an operation that was answered. A server that failed at a write may
// have done it all the same, and so may one that says something else than it should.
func judged(op *driver.Op, wanted *spec.Request, status int, body string) driver.Result {
	result := driver.Result{Sent: true, Attempts: 1, Found: true}
	counts := wanted.Success.Counts(status)
	if counts && strings.Contains(body, wanted.Success.Body) {
		return result
	}
	result.Found, result.Class, result.Cause, result.Code = false, driver.Failed, causeOfStatus(status), strconv.Itoa(status)
	if counts {
		result.Cause, result.Code = driver.CauseOther, codeNoText
	}
	if op.Kind.Write() && (counts || status >= http.StatusInternalServerError) {
		result.Class = driver.InDoubt
	}
	return result
}
