package mongodb

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
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// mongod is a real server process: a replica set of one member.
type mongod struct {
	address string
	process *exec.Cmd
	output  *bytes.Buffer
	gone    chan struct{}
}

var shared struct {
	sync.Mutex
	server *mongod
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.server != nil {
		shared.server.kill()
		_ = os.RemoveAll(shared.server.process.Dir)
	}
	os.Exit(code)
}

// sharedMongod returns the server that all tests share which leave it running.
func sharedMongod(t testing.TB) *mongod {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		directory, err := os.MkdirTemp("", "brownout-mongod-")
		if err != nil {
			t.Fatal(err)
		}
		shared.server = startMongod(t, directory)
		shared.server.initiate(t, options.Client())
	}
	return shared.server
}

// ownMongod returns a server for one test, with more arguments.
func ownMongod(t *testing.T, arguments ...string) *mongod {
	t.Helper()
	server := startMongod(t, t.TempDir(), arguments...)
	t.Cleanup(server.kill)
	return server
}

func startMongod(t testing.TB, directory string, arguments ...string) *mongod {
	t.Helper()
	binary := os.Getenv("BROWNOUT_MONGOD")
	if binary == "" {
		t.Skip("BROWNOUT_MONGOD is not set: no real server to test against")
	}
	server := &mongod{address: freeAddress(t), output: &bytes.Buffer{}, gone: make(chan struct{})}
	_, port, _ := net.SplitHostPort(server.address)
	server.process = exec.Command(binary, append([]string{
		"--dbpath", directory, "--port", port, "--bind_ip", "127.0.0.1", "--replSet", "rs",
		"--nounixsocket", "--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "16",
		"--setParameter", "diagnosticDataCollectionEnabled=false",
		"--setParameter", "enableTestCommands=1",
	}, arguments...)...)
	server.process.Dir = directory
	server.process.Stdout, server.process.Stderr = server.output, server.output
	if err := server.process.Start(); err != nil {
		t.Fatalf("starting %s: %v", binary, err)
	}
	go func() {
		_ = server.process.Wait()
		close(server.gone)
	}()
	return server
}

func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func (m *mongod) kill() {
	_ = m.process.Process.Kill()
	<-m.gone
}

func (m *mongod) uri() string { return "mongodb://" + m.address + "/?replicaSet=rs" }

// direct returns a client of that one server, for what a test does behind the driver's back.
func (m *mongod) direct(t testing.TB, o *options.ClientOptions) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(o.SetHosts([]string{m.address}).SetDirect(true).SetTimeout(20 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeClient(client) })
	return client
}

// initiate makes the replica set and waits for its primary.
func (m *mongod) initiate(t testing.TB, o *options.ClientOptions) *mongo.Client {
	t.Helper()
	admin := m.direct(t, o)
	config := bson.D{
		{Key: "_id", Value: "rs"},
		{Key: "members", Value: bson.A{bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: m.address}}}},
		{Key: "settings", Value: bson.D{{Key: "electionTimeoutMillis", Value: 500}}},
	}
	m.until(t, "the replica set is initiated", func() bool {
		err := admin.Database("admin").RunCommand(t.Context(), bson.D{{Key: "replSetInitiate", Value: config}}).Err()
		return err == nil || strings.Contains(err.Error(), "already initialized")
	})
	m.until(t, "there is a primary", func() bool {
		var hello struct {
			Writable bool `bson:"isWritablePrimary"`
		}
		err := admin.Database("admin").RunCommand(t.Context(), bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
		return err == nil && hello.Writable
	})
	return admin
}

func (m *mongod) until(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !reached(); time.Sleep(20 * time.Millisecond) {
		select {
		case <-m.gone:
			t.Fatalf("mongod ended before %s:\n%s", what, m.output)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within 60 s: %s", what)
		}
	}
}

// fail makes the server answer the next commands of a kind with an error, or
// close the connection.
func (m *mongod) fail(t *testing.T, times int, commandName string, how bson.D) {
	t.Helper()
	admin := m.direct(t, options.Client()).Database("admin")
	data := append(bson.D{
		{Key: "failCommands", Value: bson.A{commandName}}, {Key: "appName", Value: "brownout"},
	}, how...)
	set := func(mode any) {
		err := admin.RunCommand(context.Background(), bson.D{
			{Key: "configureFailPoint", Value: "failCommand"}, {Key: "mode", Value: mode},
			{Key: "data", Value: data},
		}).Err()
		if err != nil {
			t.Fatal(err)
		}
	}
	set(bson.D{{Key: "times", Value: times}})
	t.Cleanup(func() {
		select {
		case <-m.gone:
		default:
			set("off")
		}
	})
}

// waitUntilFailing waits until a command meets what fail has set.
func (m *mongod) waitUntilFailing(t *testing.T) {
	t.Helper()
	err := m.direct(t, options.Client()).Database("admin").RunCommand(t.Context(), bson.D{
		{Key: "waitForFailPoint", Value: "failCommand"}, {Key: "timesEntered", Value: int64(1)},
	}).Err()
	if err != nil {
		t.Fatal(err)
	}
}

// opened returns an open driver for a namespace of the test's own.
func opened(t testing.TB, server *mongod, change func(*driver.Config)) *Driver {
	t.Helper()
	config := driver.Config{
		URI: server.uri(), Namespace: namespace(t), Writer: "run-1",
		Streams: []driver.StreamConfig{
			{Name: "app", DeadlineS: 1, Retries: driver.RetriesNone},
			{Name: "orders", DeadlineS: 1, Retries: driver.RetriesNone, Verified: true},
		},
	}
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

func namespace(t testing.TB) string {
	name := fmt.Sprintf("t%x", filepath.Base(t.Name()))
	return name[:min(len(name), 30)]
}

var do = drivertest.Do

// update is a write of sequence 2 to the first ledger key.
func update(value string) driver.Op {
	id := driver.LedgerID("orders", false, 0)
	return driver.Op{
		Kind: driver.Update, Stream: 1, ID: id, Verified: true, Value: []byte(value),
		Record: driver.NewRecord("run-1", id, 2, []byte(value)),
	}
}
