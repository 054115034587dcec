package mongodb

import (
	"context"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// mongod is a real server: a replica set of one member.
type mongod struct{ *drivertest.Server }

func TestMain(m *testing.M) { drivertest.Main(m) }

// sharedMongod returns the server that all tests share which leave it running.
var sharedMongod = drivertest.Shared(func(t testing.TB, directory string) *mongod {
	server := startMongod(t, directory)
	server.initiate(t, options.Client())
	return server
})

// ownMongod returns a server for one test, with more arguments.
func ownMongod(t *testing.T, arguments ...string) *mongod {
	t.Helper()
	server := startMongod(t, t.TempDir(), arguments...)
	t.Cleanup(server.Kill)
	return server
}

func startMongod(t testing.TB, directory string, arguments ...string) *mongod {
	t.Helper()
	binary := drivertest.Binary(t, "BROWNOUT_MONGOD")
	server := &mongod{&drivertest.Server{Address: drivertest.FreeAddresses(t, 1)[0]}}
	_, port, _ := net.SplitHostPort(server.Address)
	server.Command = func() *exec.Cmd {
		command := exec.Command(binary, append([]string{
			"--dbpath", directory, "--port", port, "--bind_ip", "127.0.0.1", "--replSet", "rs",
			"--nounixsocket", "--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "16",
			"--setParameter", "diagnosticDataCollectionEnabled=false",
			"--setParameter", "enableTestCommands=1",
		}, arguments...)...)
		command.Dir = directory
		return command
	}
	server.Start(t)
	return server
}

func (m *mongod) uri() string { return "mongodb://" + m.Address + "/?replicaSet=rs" }

// direct returns a client of that one server, for what a test does behind the driver's back.
func (m *mongod) direct(t testing.TB, o *options.ClientOptions) *mongo.Client {
	t.Helper()
	client, err := mongo.Connect(o.SetHosts([]string{m.Address}).SetDirect(true).SetTimeout(20 * time.Second))
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
		{Key: "members", Value: bson.A{bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: m.Address}}}},
		{Key: "settings", Value: bson.D{{Key: "electionTimeoutMillis", Value: 500}}},
	}
	drivertest.Until(t, "the replica set is initiated", func() bool {
		err := admin.Database("admin").RunCommand(t.Context(), bson.D{{Key: "replSetInitiate", Value: config}}).Err()
		return err == nil || strings.Contains(err.Error(), "already initialized")
	})
	drivertest.Until(t, "there is a primary", func() bool {
		var hello struct {
			Writable bool `bson:"isWritablePrimary"`
		}
		err := admin.Database("admin").RunCommand(t.Context(), bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
		return err == nil && hello.Writable
	})
	return admin
}

// fail makes the server answer the next commands of a kind with an error, or
// close the connection.
func (m *mongod) fail(t *testing.T, times int, commandName string, how bson.D) {
	t.Helper()
	m.failing(t, bson.D{{Key: "times", Value: times}}, commandName, how)
}

// failing is fail with a mode of MongoDB's fail points.
func (m *mongod) failing(t *testing.T, mode bson.D, commandName string, how bson.D) {
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
	set(mode)
	t.Cleanup(func() {
		select {
		case <-m.Gone:
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

func blank() driver.Driver { return &Driver{} }

// opened returns an open driver for a namespace of the test's own.
func opened(t testing.TB, server *mongod, change func(*driver.Config)) *Driver {
	t.Helper()
	return drivertest.Opened(t, &Driver{}, drivertest.Config(t, server.uri()), change)
}

var do = drivertest.Do

func update(value string) driver.Op { return drivertest.Update(0, value) }
