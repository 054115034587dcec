package drivertest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
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

// Signal sends one to the process.
func (s *Server) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := s.process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// PID is the number of the process.
func (s *Server) PID() int { return s.process.Pid }

// Binary is what a variable of the environment names; without it the test is skipped.
func Binary(t testing.TB, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skip(variable + " is not set: no real server to test against")
	}
	return path
}

// FreeAddresses are so many addresses on loopback at which nobody listens.
func FreeAddresses(t testing.TB, n int) []string {
	t.Helper()
	addresses := make([]string, n)
	for i := range addresses {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		addresses[i] = listener.Addr().String()
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
