package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	aerospike "github.com/aerospike/aerospike-client-go/v8"

	"brownout/infra/lab/asd/wire"
)

// Heartbeats of the tests' clusters: three times as fast as the lab's.
const (
	intervalMs = 50
	beats      = 10
	patience   = 30 * time.Second
)

// TestMain lets the test's own binary be the server: every node is a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("ASD_STAND_IN_NODE") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// lab is a cluster of real processes on loopback.
type lab struct {
	t     *testing.T
	nodes []*member
	args  []string
}

type member struct {
	id, dir string
	port    int
	rack    int
	process *exec.Cmd
}

func newLab(t *testing.T, size int, args ...string) *lab {
	t.Helper()
	l := layOut(t, size, 0, args...)
	l.startAll()
	return l
}

// layOut writes the configuration of all nodes and starts none; with racks, they are spread over them.
func layOut(t *testing.T, size, racks int, args ...string) *lab {
	t.Helper()
	l := &lab{t: t, args: args}
	ports := freePorts(t, 3*size)
	for i := range size {
		n := &member{id: fmt.Sprintf("A%d", i+1), dir: t.TempDir(), port: ports[3*i]}
		if racks > 0 {
			n.rack = i%racks + 1
		}
		l.nodes = append(l.nodes, n)
	}
	for i, n := range l.nodes {
		l.configure(n, ports, i)
	}
	t.Cleanup(func() {
		for _, n := range l.nodes {
			if n.process != nil {
				n.signal(syscall.SIGKILL)
			}
		}
	})
	return l
}

func (l *lab) startAll() {
	l.t.Helper()
	for _, n := range l.nodes {
		l.start(n)
	}
	l.stable(len(l.nodes))
}

// loner returns one more running node, which knows no other and is unknown to all.
func (l *lab) loner() *member {
	l.t.Helper()
	ports := freePorts(l.t, 3)
	n := &member{id: fmt.Sprintf("A%d", len(l.nodes)+1), dir: l.t.TempDir(), port: ports[0]}
	(&lab{t: l.t, nodes: []*member{n}}).configure(n, ports, 0)
	l.nodes = append(l.nodes, n)
	l.start(n)
	return n
}

// setting returns one of a node's own settings of a context.
func (n *member) setting(context, name string) string {
	return n.number("get-config:context="+context, name)
}

// all gives every node a command and fails unless each says ok.
func (l *lab) all(command string) {
	l.t.Helper()
	for _, n := range l.nodes {
		if got := n.info(command); got != "ok" {
			l.t.Fatalf("%s: %s says %s", n.id, command, got)
		}
	}
}

// recluster has the principal form the cluster anew.
func (l *lab) recluster() {
	l.t.Helper()
	l.await("a principal that takes a recluster", func() bool {
		for _, n := range l.nodes {
			if n.info("recluster:") == "ok" {
				return true
			}
		}
		return false
	})
}

func (l *lab) configure(n *member, ports []int, i int) {
	var seeds strings.Builder
	for k := range l.nodes {
		if k != i {
			fmt.Fprintf(&seeds, "mesh-seed-address-port 127.0.0.1 %d\n", ports[3*k+1])
		}
	}
	endpoint := "address 127.0.0.1\nport %d\n"
	rack := ""
	if n.rack > 0 {
		rack = fmt.Sprintf("rack-id %d\n", n.rack)
	}
	text := fmt.Sprintf("service {\nnode-id %s\ncluster-name lab\n}\nlogging {\nfile %s/asd.log {\n}\n}\n"+
		"network {\nservice {\n"+endpoint+"}\nheartbeat {\n"+endpoint+"%sinterval %d\ntimeout %d\n}\n"+
		"fabric {\n"+endpoint+"}\n}\n"+
		"namespace test {\n%sstorage-engine device {\nfile %s/data\nfilesize 32M\nflush-max-ms 20\n}\n}\n",
		n.id, n.dir, ports[3*i], ports[3*i+1], seeds.String(), intervalMs, beats, ports[3*i+2], rack, n.dir)
	if err := os.WriteFile(n.conf(), []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

func (n *member) conf() string { return filepath.Join(n.dir, "aerospike.conf") }

func (n *member) data() string { return filepath.Join(n.dir, "data") }

func (l *lab) start(n *member) {
	l.t.Helper()
	n.process = l.command(n)
	n.process.Stderr = os.Stderr
	if err := n.process.Start(); err != nil {
		l.t.Fatal(err)
	}
}

// command returns what starts a node.
func (l *lab) command(n *member) *exec.Cmd {
	args := append([]string{"-config-file", n.conf(), "-migrate-record", "50us", "-migrate-partition", "50us"}, l.args...)
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "ASD_STAND_IN_NODE=1")
	return c
}

// signal sends a signal and waits until it has had its effect.
func (n *member) signal(s syscall.Signal) {
	_ = n.process.Process.Signal(s)
	switch s {
	case syscall.SIGKILL, syscall.SIGTERM:
		_ = n.process.Wait()
	case syscall.SIGSTOP:
		for !n.stopped() {
			time.Sleep(time.Millisecond)
		}
	}
}

// stopped tells whether every thread of the process is.
func (n *member) stopped() bool {
	states, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", n.process.Process.Pid))
	for _, path := range states {
		text, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(text), ") ")
		if !strings.HasPrefix(rest, "T") {
			return false
		}
	}
	return len(states) > 0
}

// info asks a node one command and returns its answer; empty if it does not answer.
func (n *member) info(command string) string {
	conn, err := net.DialTimeout("tcp", n.address(), time.Second)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	_, _ = conn.Write(wire.Frame{Kind: wire.FrameInfo, Body: []byte(command + "\n")}.Append(nil))
	frame, err := wire.ReadFrame(conn)
	if err != nil {
		return ""
	}
	_, answer, _ := strings.Cut(strings.TrimSuffix(string(frame.Body), "\n"), "\t")
	return answer
}

// send sends one request over a connection of its own, whatever node it is for.
func (n *member) send(t *testing.T, r *wire.Request) wire.Answer {
	t.Helper()
	conn, err := net.DialTimeout("tcp", n.address(), patience)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = conn.Write(wire.Frame{Kind: wire.FrameMessage, Body: r.Append(nil)}.Append(nil))
	frame, err := wire.ReadFrame(conn)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := wire.ParseAnswer(frame.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (n *member) address() string { return "127.0.0.1:" + strconv.Itoa(n.port) }

// number returns one number of `namespace/test` or `statistics`.
func (n *member) number(command, name string) string {
	for _, pair := range strings.Split(n.info(command), ";") {
		if value, is := strings.CutPrefix(pair, name+"="); is {
			return value
		}
	}
	return ""
}

// await waits until a state is there.
func (l *lab) await(what string, is func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, n := range l.nodes {
				l.t.Logf("%s: %s, cluster of %s, %s migrations", n.id, n.info("cluster-stable:"),
					n.number("statistics", "cluster_size"), n.number("statistics", "migrate_partitions_remaining"))
			}
			l.t.Fatalf("never: %s", what)
		}
	}
}

// stable waits until all nodes that run have one key for a cluster of that size, and returns it.
func (l *lab) stable(size int) (key string) {
	l.t.Helper()
	l.await(fmt.Sprintf("a stable cluster of %d", size), func() bool {
		keys := map[string]int{}
		for _, n := range l.nodes {
			keys[n.info(fmt.Sprintf("cluster-stable:size=%d;ignore-migrations=false", size))]++
		}
		for k, n := range keys {
			if n == size && k != "" && !strings.HasPrefix(k, "ERROR") {
				key = k
				return true
			}
		}
		return false
	})
	return key
}

// client returns the official client, with its defaults but for what a test cannot wait for.
func (l *lab) client(to ...*member) *aerospike.Client {
	l.t.Helper()
	policy := aerospike.NewClientPolicy()
	policy.Timeout = time.Second
	policy.TendInterval = 100 * time.Millisecond
	hosts := []*aerospike.Host{}
	for _, n := range append(to, l.nodes...) {
		hosts = append(hosts, aerospike.NewHost("127.0.0.1", n.port))
	}
	client, err := aerospike.NewClientWithPolicyAndHost(policy, hosts...)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(client.Close)
	return client
}

func freePorts(t *testing.T, count int) []int {
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

func key(t *testing.T, id any) *aerospike.Key {
	t.Helper()
	k, err := aerospike.NewKey("test", "s", id)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
