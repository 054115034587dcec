package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a real server: a process of its own, which may be started again after its end.
type Server struct {
	Address string
	Command func() *exec.Cmd
	Output  *bytes.Buffer
	Gone    chan struct{} // closed when it has ended
	process *os.Process
}

// Start starts the process.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.Output, s.Gone = &bytes.Buffer{}, make(chan struct{})
	command, gone := s.Command(), s.Gone
	command.Stdout, command.Stderr = s.Output, s.Output
	if err := command.Start(); err != nil {
		t.Fatalf("starting %s: %v", command.Path, err)
	}
	s.process = command.Process
	go func() {
		_ = command.Wait()
		close(gone)
	}()
}

// Kill ends the process at once, and waits for its end.
func (s *Server) Kill() {
	_ = s.process.Kill()
	<-s.Gone
}

// Pause stops every thread of the process, until Resume.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
	Until(t, "every thread stands", func() bool {
		states, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", s.PID()))
		for _, path := range states {
			text, _ := os.ReadFile(path)
			if _, rest, _ := strings.Cut(string(text), ") "); !strings.HasPrefix(rest, "T") {
				return false
			}
		}
		return len(states) > 0
	})
}

// Resume resumes a paused process.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGCONT)
}

func (s *Server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// PID is the number of the process.
func (s *Server) PID() int { return s.process.Pid }

// Unread is how many bytes its clients sent that it has not read, by connection.
func (s *Server) Unread(t testing.TB) (unread []int64) {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Address)
	number, numberErr := strconv.Atoi(port)
	text, readErr := os.ReadFile("/proc/net/tcp")
	if err := errors.Join(err, numberErr, readErr); err != nil {
		t.Fatal(err)
	}
	const connected = "01"
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line) // sl local_address rem_address st tx_queue:rx_queue …
		if len(fields) > 4 && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", number)) && fields[3] == connected {
			_, queued, _ := strings.Cut(fields[4], ":")
			if n, _ := strconv.ParseInt(queued, 16, 64); n > 0 {
				unread = append(unread, n)
			}
		}
	}
	return unread
}

// Binary is what a variable of the environment names; without it the test is skipped.
func Binary(t testing.TB, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skip(variable + " is not set: no real server to test against")
	}
	return path
}

// Test servers listen below the ports of labs (20000 and up) and below those that the kernel gives to
// outgoing connections: such a port may be free now and in use when the server starts.
const lowestPort, ports = 10_000, 10_000

var given sync.Map // the ports that this process has handed out

// FreeAddresses are so many addresses on loopback without a listener, each given only once.
func FreeAddresses(t testing.TB, n int) []string {
	t.Helper()
	addresses := make([]string, 0, n)
	for tried := 0; len(addresses) < n; tried++ {
		if tried == ports {
			t.Fatalf("found %d free ports from %d on, wanted %d", len(addresses), lowestPort, n)
		}
		port := lowestPort + rand.IntN(ports)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		_ = listener.Close()
		addresses = append(addresses, address)
	}
	return addresses
}

// Until waits for a condition.
func Until(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 60 s: %s", what)
		}
	}
}

// ends is what Main does at last, the latest first.
var ends []func()

// Main runs the tests of a package, and then gives up what they share.
func Main(m *testing.M) {
	code := m.Run()
	for i := len(ends) - 1; i >= 0; i-- {
		ends[i]()
	}
	os.Exit(code)
}

// Shared makes, for the first test that wants it, what all tests of a package share which leave it
// as it is, with a directory of its own. Main kills it, if it can be killed, and removes the directory.
func Shared[T any](start func(t testing.TB, directory string) T) func(testing.TB) T {
	var lock sync.Mutex
	var shared *T
	return func(t testing.TB) T {
		t.Helper()
		lock.Lock()
		defer lock.Unlock()
		if shared == nil {
			directory, err := os.MkdirTemp("", "brownout-test-")
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, func() { _ = os.RemoveAll(directory) })
			started := start(t, directory)
			if server, is := any(started).(interface{ Kill() }); is {
				ends = append(ends, server.Kill)
			}
			shared = &started
		}
		return *shared
	}
}
