package cassandra

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// server is a real node: a process of its own.
type server struct {
	address   string
	arguments []string
	process   *exec.Cmd
	output    *bytes.Buffer
	gone      chan struct{}
}

// cluster is some nodes that know each other.
type cluster struct {
	directory string
	servers   []*server
}

var shared struct {
	sync.Mutex
	cluster *cluster
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.cluster != nil {
		shared.cluster.kill()
		_ = os.RemoveAll(shared.cluster.directory)
	}
	os.Exit(code)
}

// sharedCluster returns the node that all tests share which leave it running.
func sharedCluster(t testing.TB) *cluster {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		directory, err := os.MkdirTemp("", "brownout-cassandra-")
		if err != nil {
			t.Fatal(err)
		}
		shared.cluster = startCluster(t, directory, 1, "")
	}
	return shared.cluster
}

// ownCluster returns so many nodes for one test, with more of a cassandra.yaml.
func ownCluster(t testing.TB, nodes int, more string) *cluster {
	t.Helper()
	c := startCluster(t, t.TempDir(), nodes, more)
	t.Cleanup(c.kill)
	return c
}

const yaml = `
cluster_name: driver
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
num_tokens: 1
commitlog_sync: periodic
commitlog_sync_period: 1000ms
auto_snapshot: false
write_request_timeout: 1000ms
`

// javaArguments are those of the lab.
const javaArguments = "../../../src/brownout/databases/cassandra/lab/java.conf"

// startCluster starts nodes, all of which are seeds: they need not wait for each other.
func startCluster(t testing.TB, directory string, nodes int, more string) *cluster {
	t.Helper()
	jars := os.Getenv("BROWNOUT_CASSANDRA")
	if jars == "" {
		t.Skip("BROWNOUT_CASSANDRA is not set: no real server to test against")
	}
	agents, _ := filepath.Glob(filepath.Join(jars, "jamm-*.jar"))
	arguments, err := filepath.Abs(javaArguments)
	if err != nil || len(agents) != 1 {
		t.Fatalf("no jamm-*.jar in %s, %v", jars, err)
	}
	ports := freePorts(t, 3*nodes)
	addresses := make([]string, 3*nodes) // each node has one of its own, by which the client knows it
	for i, port := range ports {
		addresses[i] = fmt.Sprintf("127.0.0.%d:%s", i%nodes+1, port)
	}
	c, seeds := &cluster{directory: directory}, addresses[nodes:2*nodes]
	for i := range nodes {
		home := filepath.Join(directory, fmt.Sprintf("n%d", i+1))
		if err := os.MkdirAll(home, 0o700); err != nil {
			t.Fatal(err)
		}
		text := yaml + more + fmt.Sprintf("listen_address: 127.0.0.%d\nrpc_address: 127.0.0.%d\n"+
			"native_transport_port: %s\nstorage_port: %s\ninitial_token: '%d'\n", i+1, i+1, portOf(addresses[i]), portOf(seeds[i]), int64(uint64(1<<63)+(1<<64-1)/uint64(nodes)*uint64(i)))
		for _, kind := range []string{"commitlog", "hints", "saved_caches"} {
			text += fmt.Sprintf("%s_directory: %s\n", kind, filepath.Join(home, kind))
		}
		text += fmt.Sprintf("data_file_directories: [%s]\nseed_provider:\n"+
			"  - class_name: org.apache.cassandra.locator.SimpleSeedProvider\n    parameters: [{seeds: '%s'}]\n",
			filepath.Join(home, "data"), strings.Join(seeds, ","))
		for name, text := range map[string]string{"cassandra.yaml": text, "logback.xml": logback} {
			if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := &server{address: addresses[i], arguments: []string{
			"java", "@" + arguments, "-Xmx384m", "-javaagent:" + agents[0], "-cp", filepath.Join(jars, "*"),
			"-Dcassandra.config=file://" + filepath.Join(home, "cassandra.yaml"), "-Dcassandra.storagedir=" + home,
			"-Dlogback.configurationFile=" + filepath.Join(home, "logback.xml"),
			"-Dcassandra.jmx.local.port=" + portOf(addresses[2*nodes+i]), "org.apache.cassandra.service.CassandraDaemon",
		}}
		s.start(t)
		c.servers = append(c.servers, s)
	}
	return c
}

const logback = `<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%date %level %msg%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="out"/></root></configuration>`

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

func freePorts(t testing.TB, n int) []string {
	t.Helper()
	ports := make([]string, n)
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		ports[i] = portOf(listener.Addr().String())
	}
	return ports
}

func (s *server) start(t testing.TB) {
	t.Helper()
	s.output, s.gone = &bytes.Buffer{}, make(chan struct{})
	s.process = exec.Command(s.arguments[0], s.arguments[1:]...)
	s.process.Stdout, s.process.Stderr = s.output, s.output
	if err := s.process.Start(); err != nil {
		t.Fatalf("starting %s: %v", s.arguments[0], err)
	}
	go func() {
		_ = s.process.Wait()
		close(s.gone)
	}()
}

func (s *server) kill() {
	_ = s.process.Process.Kill()
	<-s.gone
}

func (s *server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.process.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) kill() {
	for _, s := range c.servers {
		s.kill()
	}
}

func (c *cluster) uri() string {
	addresses := make([]string, len(c.servers))
	for i, s := range c.servers {
		addresses[i] = s.address
	}
	return "cassandra://" + strings.Join(addresses, ",")
}

// configuration is that of a driver for a keyspace of the test's own, with a deadline for busy machines.
func (c *cluster) configuration(t testing.TB, change func(*driver.Config)) driver.Config {
	t.Helper()
	config := driver.Config{
		URI: c.uri(), Namespace: namespace(t), Writer: "run-1",
		Options: map[string]any{"replication_factor": len(c.servers)},
		Streams: []driver.StreamConfig{
			{Name: "app", DeadlineS: 1, Retries: driver.RetriesNone},
			{Name: "orders", DeadlineS: 1, Retries: driver.RetriesNone, Verified: true},
		},
	}
	if change != nil {
		change(&config)
	}
	return config
}

// opened returns an open driver. A node that was just started may take minutes on a busy machine.
func opened(t testing.TB, c *cluster, change func(*driver.Config)) *Driver {
	t.Helper()
	config := c.configuration(t, change)
	for deadline := time.Now().Add(5 * time.Minute); ; {
		d := &Driver{}
		err := d.Open(t.Context(), config)
		if err == nil {
			t.Cleanup(d.Close)
			return d
		}
		d.Close()
		if time.Now().After(deadline) {
			t.Fatalf("%v\n%s", err, c.servers[0].output)
		}
	}
}

var names struct {
	sync.Mutex
	of   map[string]string
	next atomic.Uint64
}

// namespace is a name of the test's own, of which Cassandra takes but 48 characters.
func namespace(t testing.TB) string {
	names.Lock()
	defer names.Unlock()
	if names.of == nil {
		names.of = map[string]string{}
	}
	if names.of[t.Name()] == "" {
		names.of[t.Name()] = fmt.Sprintf("Test_%d", names.next.Add(1))
	}
	return names.of[t.Name()]
}

// do does one operation, for which a busy machine has ten seconds.
func do(t testing.TB, d *Driver, op driver.Op) driver.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return d.Do(ctx, &op)
}

// direct does a statement behind the driver's back.
func direct(t testing.TB, d *Driver, statement string, values ...any) {
	t.Helper()
	c, err := d.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.session.Query(statement, values...).Consistency(gocql.All).ExecContext(t.Context()); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func load(t *testing.T, d *Driver) {
	t.Helper()
	drivertest.Load(t, d, d.config.Writer)
}

// update is a write of sequence 2 to the first ledger key.
func update(value string) driver.Op {
	id := driver.LedgerID("orders", false, 0)
	return driver.Op{
		Kind: driver.Update, Stream: 1, ID: id, Verified: true, Value: []byte(value),
		Record: driver.NewRecord("run-1", id, 2, []byte(value)),
	}
}
