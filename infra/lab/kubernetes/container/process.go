package container

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Process is one that was started here. Done is closed when it has ended, and Status says how.
type Process struct {
	PID    int
	Done   chan struct{}
	Status syscall.WaitStatus
}

// Start runs a container's first process, and returns once it is what the container runs; an error
// is what it said instead. Files that it gets are the caller's to close.
func Start(spec Spec, shared Namespaces, streams Streams) (*Process, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	failure, says, err := os.Pipe()
	if err != nil {
		write.Close()
		return nil, err
	}
	defer failure.Close()
	process, err := first(spec, shared, streams, read, says)
	says.Close()
	if err != nil {
		write.Close()
		return nil, err
	}
	err = json.NewEncoder(write).Encode(spec)
	write.Close()
	words, _ := io.ReadAll(failure)
	if len(words) > 0 || err != nil {
		<-process.Done
		return nil, errors.Join(fmt.Errorf("container: %s", words), err)
	}
	return process, nil
}

func first(spec Spec, shared Namespaces, streams Streams, read, says *os.File) (*Process, error) {
	how := &syscall.ProcAttr{
		Files: append(streams.files(), read.Fd(), says.Fd()),
		Sys: &syscall.SysProcAttr{
			Setsid:     true,
			Setctty:    spec.Terminal,
			Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		},
	}
	start := fork
	switch {
	case shared.PID != 0:
		start = inside(shared.PID, []string{"pid"}, true)
	case !shared.HostPID:
		how.Sys.Cloneflags |= syscall.CLONE_NEWPID
	}
	return started(start("/proc/self/exe", []string{firstName}, how))
}

// Enter runs a command in the namespaces of a running container.
func (p *Process) Enter(spec Spec, streams Streams) (*Process, error) {
	how := &syscall.ProcAttr{
		Dir:   spec.WorkingDirectory,
		Env:   spec.Environment,
		Files: streams.files(),
		Sys: &syscall.SysProcAttr{
			Setsid:     true,
			Setctty:    spec.Terminal,
			Credential: spec.Identity.credential(),
		},
	}
	if how.Dir == "" {
		how.Dir = "/"
	}
	start := inside(p.PID, []string{"pid", "uts", "ipc", "mnt"}, false)
	return started(start(spec.Arguments[0], spec.Arguments, how))
}

type starter func(program string, arguments []string, how *syscall.ProcAttr) (int, error)

// inside returns a starter from a thread in another process's namespaces. The thread stays as it is
// and ends; where a container hangs on its parent, the one that never ends goes there and returns.
func inside(pid int, names []string, permanent bool) starter {
	return func(program string, arguments []string, how *syscall.ProcAttr) (child int, err error) {
		done := make(chan struct{})
		visit := func() {
			defer close(done)
			if err = setns(pid, names); err != nil {
				return
			}
			if permanent {
				defer func() { _ = setns(os.Getpid(), names) }()
			} else if program, err = find(program, how.Dir, how.Env); err != nil {
				return
			}
			child, err = syscall.ForkExec(program, arguments, how)
		}
		if permanent {
			forks() <- visit
		} else {
			go func() {
				runtime.LockOSThread() // and never unlocks: the thread ends with this function
				visit()
			}()
		}
		<-done
		return child, err
	}
}

func setns(pid int, names []string) error {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	for _, name := range names {
		file, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", pid, name))
		if err != nil {
			return fmt.Errorf("the container has ended: %w", err)
		}
		err = unix.Setns(int(file.Fd()), 0)
		file.Close()
		if err != nil {
			return fmt.Errorf("enter namespace %s of %d: %w", name, pid, err)
		}
	}
	return nil
}

func started(pid int, err error) (*Process, error) {
	if err != nil {
		return nil, err
	}
	process := &Process{PID: pid, Done: make(chan struct{})}
	go func() {
		defer close(process.Done)
		for {
			if _, err := syscall.Wait4(pid, &process.Status, 0, nil); err != syscall.EINTR {
				return
			}
		}
	}()
	return process, nil
}

// Code is its exit code as a shell and a kubelet say it: 128 and the signal that ended it.
func (p *Process) Code() int {
	if p.Status.Signaled() {
		return 128 + int(p.Status.Signal())
	}
	return p.Status.ExitStatus()
}

// Signal sends it a signal; one that has ended is let be.
func (p *Process) Signal(signal syscall.Signal) {
	select {
	case <-p.Done:
	default:
		_ = syscall.Kill(p.PID, signal)
	}
}
