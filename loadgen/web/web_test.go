package web

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
	"brownout/loadgen/spec"
)

// application answers as the path of a request says, and remembers what it was asked.
type application struct {
	*httptest.Server
	opened atomic.Int32

	mu    sync.Mutex
	asked []string
}

func serve(t *testing.T) *application {
	t.Helper()
	a := &application{}
	a.Server = httptest.NewUnstartedServer(http.HandlerFunc(a.answer))
	a.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			a.opened.Add(1)
		}
	}
	a.Start()
	t.Cleanup(a.Close)
	return a
}

func (a *application) requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func (a *application) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	a.asked = append(a.asked, strings.TrimSpace(r.Method+" "+r.URL.String()+" "+r.Header.Get("X-Key")+" "+string(body)))
	a.mu.Unlock()
	switch path, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); path {
	case "missing":
		w.WriteHeader(http.StatusNotFound)
	case "broken":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "moved":
		http.Redirect(w, r, "/well", http.StatusSeeOther)
	case "hangs":
		<-r.Context().Done()
	case "cuts": // the connection is closed without an answer
		connection, _, _ := w.(http.Hijacker).Hijack()
		_ = connection.Close()
	case "half": // less than the whole answer
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "stored")
	default:
		_, _ = io.WriteString(w, "stored")
	}
}

// asking returns a driver whose second stream asks a URL, and lets a test change the request.
func asking(t *testing.T, url string, keepAlive bool, change func(*spec.Request)) driver.Driver {
	t.Helper()
	request := func(method string) *spec.Request {
		r := &spec.Request{Method: method, URL: url, Success: spec.Success{Status: [][2]int{{200, 299}}}}
		if change != nil {
			change(r)
		}
		return r
	}
	d := Wrap(&drivertest.Fake{}, &spec.Spec{Streams: []spec.Stream{
		{Name: "lookups"},
		{Name: "checkout", HTTP: &spec.Endpoint{KeepAlive: keepAlive, Requests: map[string]*spec.Request{
			"read": request(http.MethodGet), "update": request(http.MethodPost),
		}}},
	}})
	t.Cleanup(d.Close)
	return d
}

func do(t *testing.T, d driver.Driver, kind driver.Kind, within time.Duration) driver.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return d.Do(ctx, &driver.Op{Kind: kind, Stream: 1, Key: 7})
}

// A change of TLSClientConfig would disable HTTP/2 by itself, so the server's authority is trusted by
// the environment, as users have it.
func TestHTTPSIsAskedByTheProtocolThatTheSettingsName(t *testing.T) {
	protocols := make(chan string, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocols <- r.Proto
		_, _ = io.WriteString(w, "stored")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(authority, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", authority)
	d := asking(t, server.URL, true, nil)
	if got := do(t, d, driver.Read, time.Minute); got.Class != driver.OK {
		t.Fatalf("%+v", got)
	}
	if got := <-protocols; got != "HTTP/1.1" {
		t.Errorf("asked by %s, wanted HTTP/1.1", got)
	}
}

func TestEveryEndOfARequest(t *testing.T) {
	a := serve(t)
	for path, want := range map[string]struct {
		cause driver.Cause
		code  string
		write driver.Class
	}{
		"missing": {driver.CauseNotFound, "404", driver.Failed},
		"broken":  {driver.CauseOther, "503", driver.InDoubt},
		"moved":   {driver.CauseOther, "303", driver.Failed},
		"hangs":   {driver.CauseTotalTimeout, "no answer", driver.InDoubt},
		"cuts":    {driver.CauseConnectionReset, "no answer", driver.InDoubt},
		"half":    {driver.CauseConnectionReset, "no answer", driver.InDoubt},
	} {
		for kind, class := range map[driver.Kind]driver.Class{driver.Read: driver.Failed, driver.Update: want.write} {
			got := do(t, asking(t, a.URL+"/"+path, true, nil), kind, 200*time.Millisecond)
			if path == "half" && got.Code == "no answer" && got.Cause == driver.CauseTotalTimeout {
				got.Cause = want.cause // the server is slow to close
			}
			if got.Class != class || got.Cause != want.cause || got.Code != want.code || !got.Sent || got.Attempts != 1 {
				t.Errorf("%s of /%s: %+v", kind, path, got)
			}
		}
	}
	for _, kind := range []driver.Kind{driver.Read, driver.Update} {
		if got := do(t, asking(t, a.URL+"/well", true, nil), kind, time.Minute); got.Class != driver.OK || !got.Found {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

func TestNothingIsAskedTwice(t *testing.T) {
	a := serve(t)
	for _, path := range []string{"moved", "cuts", "broken"} {
		d := asking(t, a.URL+"/{key}", true, nil)
		do(t, d, driver.Read, time.Minute) // leaves a connection to be used again
		before := len(a.requests())
		s := d.(*Driver).streams[1]
		s.spec.HTTP.Requests["read"].URL = a.URL + "/" + path
		do(t, d, driver.Read, time.Minute)
		if got := a.requests()[before:]; len(got) != 1 {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestTheKeyTheSequenceAndHeadersAreSent(t *testing.T) {
	a := serve(t)
	d := asking(t, a.URL+"/orders/{key}", true, func(r *spec.Request) {
		r.Headers = map[string]string{"X-Key": "abc"}
		if r.Method == http.MethodPost {
			r.Body = `{"order": {key}, "n": {sequence}, "of": {}}`
		}
	})
	do(t, d, driver.Read, time.Minute)
	do(t, d, driver.Update, time.Minute)
	want := []string{"GET /orders/7 abc", `POST /orders/7 abc {"order": 7, "n": 2, "of": {}}`}
	if got := a.requests(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestWhatCountsAsSuccess(t *testing.T) {
	a := serve(t)
	counts := func(r *spec.Request) { r.Success = spec.Success{Status: [][2]int{{200, 299}, {404, 404}}} }
	if got := do(t, asking(t, a.URL+"/missing", true, counts), driver.Update, time.Minute); got.Class != driver.OK {
		t.Errorf("a status that is named: %+v", got)
	}
	text := func(wanted string) func(*spec.Request) {
		return func(r *spec.Request) { r.Success.Body = wanted }
	}
	if got := do(t, asking(t, a.URL+"/well", true, text("stor")), driver.Read, time.Minute); got.Class != driver.OK {
		t.Errorf("the text is there: %+v", got)
	}
	other := asking(t, a.URL+"/well", true, text("sold"))
	if got := do(t, other, driver.Read, time.Minute); got.Class != driver.Failed || got.Code != codeNoText {
		t.Errorf("another text: %+v", got)
	}
	if got := do(t, other, driver.Update, time.Minute); got.Class != driver.InDoubt {
		t.Errorf("another text for a write: %+v", got)
	}
}

func TestAConnectionIsUsedAgainUnlessTheWorkloadSaysNo(t *testing.T) {
	for keepAlive, want := range map[bool]int32{true: 1, false: 3} {
		a := serve(t)
		d := asking(t, a.URL+"/well", keepAlive, nil)
		for range 3 {
			do(t, d, driver.Read, time.Minute)
		}
		if got := a.opened.Load(); got != want {
			t.Errorf("keep-alive %v: %d connections", keepAlive, got)
		}
	}
}

func TestAnApplicationThatIsNotThere(t *testing.T) {
	a := serve(t)
	url := a.URL
	a.Close()
	d := asking(t, url+"/well", true, nil)
	got := do(t, d, driver.Update, time.Minute)
	if got.Class != driver.Failed || got.Cause != driver.CauseConnectRefused || got.Sent {
		t.Errorf("%+v", got)
	}
}

func TestOtherStreamsAreTheDriversOwn(t *testing.T) {
	fake := &drivertest.Fake{}
	if got := Wrap(fake, &spec.Spec{Streams: []spec.Stream{{Name: "lookups"}}}); got != driver.Driver(fake) {
		t.Errorf("no stream has an endpoint: %T", got)
	}
	d := asking(t, "http://127.0.0.1:1/{key}", true, func(r *spec.Request) {
		r.Headers = map[string]string{"Authorization": "Bearer s3cr3t"}
	})
	if got := d.Lane(&driver.Op{Stream: 1}); got != "http checkout" {
		t.Error(got)
	}
	if got := d.Lane(&driver.Op{Stream: 0}); got == "http checkout" {
		t.Error(got)
	}
	settings := d.Settings()["http"].(map[string]any)["checkout"].(map[string]any)
	if settings["read"] != "GET http://127.0.0.1:1/{key}" || len(settings) != 4 {
		t.Errorf("%v", settings)
	}
}

func TestCausesOfALostAnswerAreNamed(t *testing.T) {
	for cause, err := range map[driver.Cause]error{
		driver.CauseConnectRefused:  syscall.ECONNREFUSED,
		driver.CauseConnectionReset: syscall.ECONNRESET,
		driver.CauseTotalTimeout:    context.DeadlineExceeded,
		driver.CauseNoNode:          &net.DNSError{Err: "no such host"},
		driver.CauseOther:           errors.New("?"),
	} {
		if got := CauseOf(err); got != cause {
			t.Errorf("%v is %s (wanted %s)", err, got, cause)
		}
	}
}
