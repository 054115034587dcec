package couchbase

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// mock is CouchbaseMock: one process that plays three nodes of one bucket.
type mock struct {
	*drivertest.Server
	rest  string
	nodes []string
}

func TestMain(m *testing.M) { drivertest.Main(m) }

// sharedMock returns the mock that all tests share which leave it as it is.
var sharedMock = drivertest.Shared(func(t testing.TB, directory string) *mock { return startMock(t, directory) })

// ownMock returns a mock for one test.
func ownMock(t testing.TB) *mock {
	t.Helper()
	m := startMock(t, t.TempDir())
	t.Cleanup(m.Kill)
	return m
}

// script is that of the lab, which says `SETTING` for what it is given.
const script = "../../../src/brownout/databases/couchbase/lab/mock.in"

const nodes = 3

// startMock starts it at free ports: those of its nodes have to be a row.
func startMock(t testing.TB, directory string) *mock {
	t.Helper()
	jar := drivertest.Binary(t, "BROWNOUT_COUCHBASE_MOCK")
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("no java is on PATH: CouchbaseMock cannot be started")
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	rest, first := freeRow(t)
	filled := strings.NewReplacer("@REST@", fmt.Sprint(rest), "@KV@", fmt.Sprint(first), "@NODES@", fmt.Sprint(nodes),
		"@REPLICAS@", "1", "@VBUCKETS@", "64", "@BUCKET@", "brownout", "@PASSWORD@", "s3cr3t").Replace(string(text))
	file := filepath.Join(directory, "mock.js")
	if err := os.WriteFile(file, []byte(filled), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &mock{rest: fmt.Sprintf("http://127.0.0.1:%d", rest)}
	for i := range nodes {
		m.nodes = append(m.nodes, fmt.Sprintf("127.0.0.1:%d", first+i))
	}
	m.Server = &drivertest.Server{Address: m.nodes[0], Command: func() *exec.Cmd {
		return exec.Command("java", "-Xmx128m", "-cp", jar, "org.mozilla.javascript.tools.shell.Main", "-f", file)
	}}
	m.Start(t)
	for deadline := time.Now().Add(5 * time.Minute); !m.serves(); time.Sleep(50 * time.Millisecond) {
		select {
		case <-m.Gone:
			t.Fatalf("the mock has ended: %s", m.Output)
		default:
		}
		if time.Now().After(deadline) { // a JVM takes minutes to start on a busy machine
			t.Fatal("the mock does not serve within five minutes")
		}
	}
	return m
}

func (m *mock) serves() bool {
	answer, err := http.Get(m.rest + "/pools") //nolint:noctx // of a test
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// freeRow finds a free port, and the first of a row of them.
func freeRow(t testing.TB) (rest, first int) {
	t.Helper()
	for range 100 {
		address := drivertest.FreeAddresses(t, 1)[0]
		_, port, _ := net.SplitHostPort(address)
		_, _ = fmt.Sscan(port, &rest)
		if free(rest+1) && free(rest+2) && free(rest+3) {
			return rest, rest + 1
		}
	}
	t.Fatal("no four free ports in a row")
	return 0, 0
}

func free(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// tell gives the mock one of its out-of-band commands.
func (m *mock) tell(t testing.TB, command string) {
	t.Helper()
	answer, err := http.Get(m.rest + "/mock/" + command) //nolint:noctx // of a test
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", command, answer.Status)
	}
}

// flush empties the bucket: a view of the mock takes time for whatever is in it.
func (m *mock) flush(t testing.TB) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		m.rest+"/pools/default/buckets/brownout/controller/doFlush", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("brownout", "s3cr3t")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("flushing: %s", answer.Status)
	}
}

func (m *mock) uri() string { return "couchbase://" + strings.Join(m.nodes, ",") }

func (m *mock) config(t testing.TB) driver.Config {
	config := drivertest.Config(t, m.uri())
	config.Username, config.Password = "brownout", "s3cr3t"
	config.Options = map[string]any{"durability": "none"} // the mock has no other
	return config
}

func blank() driver.Driver { return &Driver{} }

// opened returns an open driver for a namespace of the test's own.
func opened(t testing.TB, m *mock, change func(*driver.Config)) *Driver {
	t.Helper()
	return drivertest.Opened(t, &Driver{}, m.config(t), change)
}

// do does one operation for which it is patient: a mock on a busy machine takes its time.
func do(t testing.TB, d *Driver, op driver.Op) driver.Result {
	t.Helper()
	return within(t, d, 10*time.Second, op)
}

func within(t testing.TB, d *Driver, limit time.Duration, op driver.Op) driver.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return d.Do(ctx, &op)
}

func update(value string) driver.Op { return drivertest.Update(0, value) }
