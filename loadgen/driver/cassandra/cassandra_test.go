package cassandra

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// cluster is some nodes that know each other.
type cluster struct {
	servers []*drivertest.Server
}

func TestMain(m *testing.M) { drivertest.Main(m) }

// sharedCluster returns the node that all tests share which leave it running.
var sharedCluster = drivertest.Shared(func(t testing.TB, directory string) *cluster {
	c := startCluster(t, directory, 1, patientYAML)
	defer func() {
		if t.Failed() { // it is unknown to others then
			c.Kill()
		}
	}()
	c.await(t, nil)
	return c
})

// ownCluster returns so many nodes for one test, with more of a cassandra.yaml.
func ownCluster(t testing.TB, nodes int, more string) *cluster {
	t.Helper()
	c := startCluster(t, t.TempDir(), nodes, more)
	t.Cleanup(c.Kill)
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
`

// patientYAML is for nodes that no fault delays, on a busy machine.
const patientYAML = `
read_request_timeout: 30s
range_request_timeout: 30s
write_request_timeout: 30s
counter_write_request_timeout: 30s
cas_contention_timeout: 30s
`

// javaArguments are those of the lab.
const javaArguments = "../../../src/brownout/databases/cassandra/lab/java.conf"

// tellCopies has a node tell what it has stored itself.
const tellCopies = "-Dcassandra.enable_nodelocal_queries=true"

// startCluster starts nodes, all of which are seeds: they need not wait for each other.
func startCluster(t testing.TB, directory string, nodes int, more string) *cluster {
	t.Helper()
	jars := drivertest.Binary(t, "BROWNOUT_CASSANDRA")
	agents, _ := filepath.Glob(filepath.Join(jars, "jamm-*.jar"))
	arguments, err := filepath.Abs(javaArguments)
	if err != nil || len(agents) != 1 {
		t.Fatalf("no jamm-*.jar in %s, %v", jars, err)
	}
	addresses := drivertest.FreeAddresses(t, 3*nodes)
	for i, free := range addresses { // each node has an IP address of its own, by which the client knows it
		addresses[i] = fmt.Sprintf("127.0.0.%d:%s", i%nodes+1, portOf(free))
	}
	c, seeds := &cluster{}, addresses[nodes:2*nodes]
	for i := range nodes {
		home := filepath.Join(directory, fmt.Sprintf("n%d", i+1))
		if err := os.MkdirAll(home, 0o700); err != nil {
			t.Fatal(err)
		}
		text := yaml + more + fmt.Sprintf("listen_address: 127.0.0.%d\nrpc_address: 127.0.0.%d\n"+
			"native_transport_port: %s\nstorage_port: %s\ninitial_token: '%d'\n", i+1, i+1, portOf(addresses[i]), portOf(seeds[i]),
			int64(uint64(1<<63)+(1<<64-1)/uint64(nodes)*uint64(i)))
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
		arguments := []string{
			"@" + arguments, "-Xmx384m", "-javaagent:" + agents[0], "-cp", filepath.Join(jars, "*"),
			"-Dcassandra.config=file://" + filepath.Join(home, "cassandra.yaml"), "-Dcassandra.storagedir=" + home,
			tellCopies,
			"-Dlogback.configurationFile=" + filepath.Join(home, "logback.xml"),
			"-Dcassandra.jmx.local.port=" + portOf(addresses[2*nodes+i]), "org.apache.cassandra.service.CassandraDaemon",
		}
		s := &drivertest.Server{
			Address: addresses[i], Command: func() *exec.Cmd { return exec.Command("java", arguments...) },
		}
		s.Start(t)
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

func (c *cluster) Kill() {
	for _, s := range c.servers {
		s.Kill()
	}
}

func (c *cluster) uri() string {
	addresses := make([]string, len(c.servers))
	for i, s := range c.servers {
		addresses[i] = s.Address
	}
	return "cassandra://" + strings.Join(addresses, ",")
}

// await waits until a driver opens at every node.
func (c *cluster) await(t testing.TB, change func(*driver.Config)) {
	t.Helper()
	for _, s := range c.servers {
		alone := &cluster{servers: []*drivertest.Server{s}}
		config := alone.config(t)
		if change != nil {
			change(&config)
		}
		until(t, s.Address+" serves", func() bool {
			d := &Driver{}
			defer d.Close()
			err := d.Open(t.Context(), config)
			select {
			case <-s.Gone:
				t.Fatalf("it has ended: %s", s.Output)
			default:
			}
			return err == nil
		})
	}
}

// until waits for what may take a JVM minutes on a busy machine.
func until(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !reached(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within five minutes: %s", what)
		}
	}
}

func blank() driver.Driver { return &Driver{} }

// patience is how long an operation may take on a busy machine.
const patience = 10 * time.Second

// config is that of a driver for a keyspace of the test's own.
func (c *cluster) config(t testing.TB) driver.Config {
	config := drivertest.Config(t, c.uri())
	config.Options = map[string]any{"replication_factor": len(c.servers)}
	for i := range config.Streams {
		config.Streams[i].DeadlineS = patience.Seconds()
	}
	return config
}

// opened returns an open driver.
func opened(t testing.TB, c *cluster, change func(*driver.Config)) *Driver {
	t.Helper()
	return drivertest.Opened(t, &Driver{}, c.config(t), change)
}

func controlled(t testing.TB, d *Driver) *control {
	t.Helper()
	c, err := d.control(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// do does one operation for which it is patient.
func do(t testing.TB, d *Driver, op driver.Op) driver.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return d.Do(ctx, &op)
}

// direct does a statement behind the driver's back.
func direct(t testing.TB, d *Driver, statement string, values ...any) {
	t.Helper()
	if err := d.session.Query(statement, values...).Consistency(gocql.All).ExecContext(t.Context()); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
