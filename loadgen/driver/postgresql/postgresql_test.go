package postgresql

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"brownout/loadgen/driver"
	"brownout/loadgen/driver/drivertest"
)

// server is a real PostgreSQL with its data directory.
type server struct {
	*drivertest.Server
	directory string
}

func TestMain(m *testing.M) { drivertest.Main(m) }

// command is a program of PostgreSQL. It refuses root, so root runs it in a user namespace in which
// it is the user `nobody`.
func command(t testing.TB, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(filepath.Join(drivertest.Binary(t, "BROWNOUT_POSTGRESQL"), name), arguments...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	if os.Geteuid() == 0 {
		const nobody = 65534
		c.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: nobody, HostID: 0, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: nobody, HostID: 0, Size: 1}},
		}
	}
	return c
}

func run(t testing.TB, c *exec.Cmd) {
	t.Helper()
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, said)
	}
}

// sharedServer returns the server that all tests share which leave it running.
var sharedServer = drivertest.Shared(func(t testing.TB, directory string) *server {
	return started(t, filepath.Join(directory, "pg"))
})

// emptyDirectory returns a data directory as initdb makes it.
var emptyDirectory = drivertest.Shared(func(t testing.TB, directory string) string {
	empty := filepath.Join(directory, "empty")
	run(t, command(t, "initdb", "--pgdata", empty, "--username", "postgres", "--auth", "trust",
		"--encoding", "UTF8", "--locale", "C", "--no-sync"))
	return empty
})

// ownServer returns one for a test, with more settings.
func ownServer(t testing.TB, settings ...string) *server {
	t.Helper()
	s := started(t, filepath.Join(t.TempDir(), "pg"), settings...)
	t.Cleanup(s.Kill)
	return s
}

// started copies the empty directory and starts a server on it.
func started(t testing.TB, directory string, settings ...string) *server {
	t.Helper()
	run(t, exec.Command("cp", "-a", emptyDirectory(t), directory))
	s := serverIn(t, directory)
	_, port, _ := net.SplitHostPort(s.Address)
	settings = append([]string{
		"listen_addresses = '127.0.0.1'", "port = " + port, "unix_socket_directories = ''", "fsync = off",
		"shared_buffers = 16MB", "max_connections = 100", "max_wal_senders = 4", "hot_standby = on",
	}, settings...)
	conf, err := os.OpenFile(filepath.Join(directory, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conf.WriteString(strings.Join(settings, "\n") + "\n")
	if err := cmp.Or(err, conf.Close()); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	return s
}

func serverIn(t testing.TB, directory string) *server {
	t.Helper()
	return &server{&drivertest.Server{
		Address: drivertest.FreeAddresses(t, 1)[0],
		Command: func() *exec.Cmd { return command(t, "postgres", "-D", directory) },
	}, directory}
}

// start waits until the server answers.
func (s *server) start(t testing.TB) {
	t.Helper()
	s.Start(t)
	drivertest.Until(t, "the server answers", func() bool {
		connection, err := s.connect(t.Context())
		if err == nil {
			_ = connection.Close(t.Context())
		}
		return err == nil
	})
}

// replica returns one of the server, which it follows.
func (s *server) replica(t testing.TB) *server {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "replica")
	run(t, command(t, "pg_basebackup", "--pgdata", directory, "--dbname", "postgres://postgres@"+s.Address,
		"--write-recovery-conf", "--checkpoint", "fast", "--no-sync"))
	r := serverIn(t, directory)
	_, port, _ := net.SplitHostPort(r.Address)
	_, own, _ := net.SplitHostPort(s.Address)
	conf := filepath.Join(directory, "postgresql.conf")
	text, err := os.ReadFile(conf)
	if err == nil {
		err = os.WriteFile(conf, []byte(strings.ReplaceAll(string(text), "port = "+own, "port = "+port)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.start(t)
	t.Cleanup(r.Kill)
	return r
}

// die ends all of the server at once, as the loss of its machine does.
func (s *server) die(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGKILL, "")
	<-s.Gone
}

// signal sends one to the server's every process whose title has that word in it.
func (s *server) signal(t testing.TB, signal syscall.Signal, word string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range all {
		if place, err := os.Readlink(link); err == nil && place == s.directory {
			var pid int
			_, _ = fmt.Sscanf(link, "/proc/%d/cwd", &pid)
			if title, _ := os.ReadFile(filepath.Dir(link) + "/cmdline"); bytes.Contains(title, []byte(word)) {
				_ = syscall.Kill(pid, signal)
			}
		}
	}
}

func (s *server) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return pgx.Connect(ctx, "postgres://postgres@"+s.Address+"/postgres?sslmode=disable")
}

// direct does a statement behind the driver's back.
func (s *server) direct(t testing.TB, sql string, arguments ...any) {
	t.Helper()
	connection, err := s.connect(context.Background())
	if err == nil {
		_, err = connection.Exec(context.Background(), sql, arguments...)
		_ = connection.Close(context.Background())
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// ask returns the one value of a query, asked behind the driver's back.
func ask[T any](t testing.TB, s *server, sql string, arguments ...any) (answer T) {
	t.Helper()
	connection, err := s.connect(context.Background())
	if err == nil {
		err = connection.QueryRow(context.Background(), sql, arguments...).Scan(&answer)
		_ = connection.Close(context.Background())
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer
}

// catchUp waits until the replica has all that the primary holds now.
func (s *server) catchUp(t testing.TB, replica *server) {
	t.Helper()
	held := ask[string](t, s, "SELECT pg_current_wal_lsn()::text")
	drivertest.Until(t, "the replica has caught up", func() bool {
		return ask[bool](t, replica, "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false)", held)
	})
}

// synchronize has commits wait for replicas of these names from now on. Sessions wait once the
// checkpointer has read the setting, which it does at the latest before it makes a checkpoint.
func (s *server) synchronize(t testing.TB, names string) {
	t.Helper()
	s.direct(t, "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'")
	s.direct(t, "SELECT pg_reload_conf()")
	drivertest.Until(t, "the server has read its settings", func() bool {
		connection, err := s.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = connection.Close(t.Context()) }()
		read := ""
		err = connection.QueryRow(t.Context(), "SHOW synchronous_standby_names").Scan(&read)
		return err == nil && read == names
	})
	s.direct(t, "CHECKPOINT")
}

func uriOf(servers ...*server) string {
	addresses := make([]string, len(servers))
	for i, s := range servers {
		addresses[i] = s.Address
	}
	return "postgresql://" + strings.Join(addresses, ",")
}

func configOf(t testing.TB, servers ...*server) driver.Config {
	t.Helper()
	config := drivertest.Config(t, uriOf(servers...))
	config.Username = "postgres"
	return config
}

func blank() driver.Driver { return &Driver{} }

// opened returns an open driver for a schema of the test's own.
func opened(t testing.TB, s *server, change func(*driver.Config)) *Driver {
	t.Helper()
	return drivertest.Opened(t, &Driver{}, configOf(t, s), change)
}

// claimed returns an open driver whose tables are there.
func claimed(t testing.TB, s *server) *Driver {
	t.Helper()
	d := opened(t, s, nil)
	if err := controlled(t, d).WriteMarker(t.Context(), &driver.Marker{MadeBy: "brownout", Schema: 1}); err != nil {
		t.Fatal(err)
	}
	return d
}

func controlled(t testing.TB, d *Driver) *control {
	t.Helper()
	c, err := d.control(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var do = drivertest.Do

// remove takes a row away behind the driver's back.
func remove(t testing.TB, d *Driver, table, id string) {
	t.Helper()
	tag, err := d.writes.Exec(t.Context(), "DELETE FROM "+d.table(table)+" WHERE id = $1", id)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("%s: %v, %v", id, tag, err)
	}
}

func update(value string) driver.Op { return drivertest.Update(0, value) }
