package aerospike

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	client "github.com/aerospike/aerospike-client-go/v8"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

const patience = 30 * time.Second

// cluster is a cluster of real stand-in processes on loopback.
type cluster struct {
	t     testing.TB
	nodes []*node
	args  []string
}

type node struct {
	dir     string
	port    int
	process *exec.Cmd
}

var shared struct {
	sync.Mutex
	directory string // of the server's binary and of the shared cluster
	server    string
	cluster   *cluster
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.cluster != nil {
		shared.cluster.stop()
	}
	if shared.directory != "" {
		_ = os.RemoveAll(shared.directory)
	}
	os.Exit(code)
}

// sharedCluster returns the cluster of one node that all tests share which leave it running.
func sharedCluster(t testing.TB) *cluster {
	t.Helper()
	server := standIn(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		shared.cluster = start(t, server, shared.directory, 1)
	}
	shared.cluster.t = t
	return shared.cluster
}

// ownCluster returns a cluster for one test, with more arguments for each node.
func ownCluster(t testing.TB, size int, args ...string) *cluster {
	t.Helper()
	c := start(t, standIn(t), t.TempDir(), size, args...)
	t.Cleanup(c.stop)
	return c
}

// standIn builds the stand-in server once.
func standIn(t testing.TB) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.directory == "" {
		directory, err := os.MkdirTemp("", "brownout-asd-")
		if err != nil {
			t.Fatal(err)
		}
		shared.directory = directory
	}
	if shared.server == "" {
		shared.server = drivertest.StandIn(t, "asd", shared.directory)
	}
	return shared.server
}

func start(t testing.TB, server, directory string, size int, args ...string) *cluster {
	t.Helper()
	c := &cluster{t: t}
	ports := freePorts(t, 3*size)
	for i := range size {
		home := filepath.Join(directory, fmt.Sprintf("n%d", i+1))
		if err := os.MkdirAll(home, 0o755); err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, &node{dir: home, port: ports[3*i]})
		configure(t, home, ports, i)
	}
	c.args = append([]string{server, "-migrate-record", "50us", "-migrate-partition", "50us"}, args...)
	for _, n := range c.nodes {
		c.start(n)
	}
	c.whole(size)
	return c
}

func configure(t testing.TB, home string, ports []int, i int) {
	t.Helper()
	seeds := ""
	for k := range len(ports) / 3 {
		if k != i {
			seeds += fmt.Sprintf("mesh-seed-address-port 127.0.0.1 %d\n", ports[3*k+1])
		}
	}
	endpoint := "address 127.0.0.1\nport %d\n"
	text := fmt.Sprintf("service {\nnode-id A%d\ncluster-name lab\n}\nlogging {\nfile %s/asd.log {\n}\n}\n"+
		"network {\nservice {\n"+endpoint+"}\nheartbeat {\n"+endpoint+"%sinterval 50\ntimeout 10\n}\n"+
		"fabric {\n"+endpoint+"}\n}\n"+
		"namespace test {\nstorage-engine device {\nfile %s/data\nfilesize 64M\nflush-max-ms 20\n}\n}\n",
		i+1, home, ports[3*i], ports[3*i+1], seeds, ports[3*i+2], home)
	if err := os.WriteFile(filepath.Join(home, "aerospike.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func freePorts(t testing.TB, count int) []int {
	t.Helper()
	var ports []int
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (c *cluster) start(n *node) {
	c.t.Helper()
	args := append([]string{"-config-file", filepath.Join(n.dir, "aerospike.conf")}, c.args[1:]...)
	n.process = exec.Command(c.args[0], args...)
	n.process.Stderr = os.Stderr
	if err := n.process.Start(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) stop() {
	for _, n := range c.nodes {
		n.kill()
	}
}

func (n *node) kill() {
	_ = n.process.Process.Kill()
	_ = n.process.Wait()
}

// pause stops every thread of the node; resume lets them go on.
func (n *node) pause() {
	_ = n.process.Process.Signal(syscall.SIGSTOP)
	for !n.stands() {
		time.Sleep(time.Millisecond)
	}
}

func (n *node) resume() { _ = n.process.Process.Signal(syscall.SIGCONT) }

func (n *node) stands() bool {
	states, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", n.process.Process.Pid))
	for _, path := range states {
		text, _ := os.ReadFile(path)
		if _, rest, _ := strings.Cut(string(text), ") "); !strings.HasPrefix(rest, "T") {
			return false
		}
	}
	return len(states) > 0
}

// waiting is how many connections hold something that the node has not read.
func (n *node) waiting() int {
	text, _ := os.ReadFile("/proc/net/tcp")
	count := 0
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) > 4 && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", n.port)) &&
			!strings.HasSuffix(fields[4], ":00000000") && fields[3] == "01" {
			count++
		}
	}
	return count
}

func (n *node) address() string { return fmt.Sprintf("127.0.0.1:%d", n.port) }

func (c *cluster) uri() string {
	var addresses []string
	for _, n := range c.nodes {
		addresses = append(addresses, n.address())
	}
	return scheme + strings.Join(addresses, ",")
}

// whole waits until so many nodes are one cluster with nothing left to migrate.
func (c *cluster) whole(size int) {
	c.t.Helper()
	command := fmt.Sprintf("cluster-stable:size=%d;ignore-migrations=false", size)
	await(c.t, command, func() bool {
		stable := 0
		for _, n := range c.nodes {
			if answer := n.info(command); answer != "" && !strings.HasPrefix(answer, "ERROR") {
				stable++
			}
		}
		return stable == size
	})
}

// info asks a node one command; "" if it does not answer.
func (n *node) info(command string) string {
	policy := client.NewClientPolicy()
	policy.Timeout = time.Second
	conn, err := client.NewConnection(policy, client.NewHost("127.0.0.1", n.port))
	if err != nil {
		return ""
	}
	defer conn.Close()
	answers, err := conn.RequestInfo(command)
	if err != nil {
		return ""
	}
	return answers[command]
}

func await(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// opened returns an open driver for sets of the test's own.
func opened(t testing.TB, c *cluster, change func(*driver.Config)) *Driver {
	t.Helper()
	config := configFor(t, c)
	if change != nil {
		change(&config)
	}
	d := &Driver{}
	t.Cleanup(d.Close)
	if err := d.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	return d
}

func configFor(t testing.TB, c *cluster) driver.Config {
	return driver.Config{
		URI: c.uri(), Namespace: prefix(t), Writer: "run-1",
		Options: map[string]any{"tend_interval_ms": 100},
		Streams: []driver.StreamConfig{
			{Name: "app", DeadlineS: 1, Retries: driver.RetriesNone},
			{Name: "orders", DeadlineS: 1, Retries: driver.RetriesNone, Verified: true},
		},
	}
}

func prefix(t testing.TB) string {
	name := fmt.Sprintf("t%x", filepath.Base(t.Name()))
	return name[max(0, len(name)-30):]
}

var do = drivertest.Do

// update is a write of sequence 2 to a ledger key.
func update(key uint64, value string) driver.Op {
	id := driver.LedgerID("orders", false, key)
	return driver.Op{
		Kind: driver.Update, Stream: 1, Key: key, ID: id, Verified: true, Value: []byte(value),
		Record: driver.NewRecord("run-1", id, 2, []byte(value)),
	}
}

func read(op driver.Op) driver.Op {
	return driver.Op{Kind: driver.Read, Stream: op.Stream, ID: op.ID, Verified: op.Verified}
}
