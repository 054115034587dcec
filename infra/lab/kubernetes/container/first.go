package container

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"brownout/infra/lab/kubernetes/leash"
)

// firstName is argv[0] of a container's first process before it becomes what the container runs.
const firstName = "kubernetes-lab-container"

// Its files: the Spec to read, and where to say why it could not become that.
const (
	specFile    = 3
	failureFile = 4
)

// init takes over where this program was started as a container's first process: long before
// Kubernetes' own packages have set themselves up, which takes them a second.
func init() {
	if os.Args[0] != firstName {
		return
	}
	runtime.LockOSThread()
	if err := become(); err != nil {
		fmt.Fprint(os.NewFile(failureFile, "failure"), err)
	}
	os.Exit(128)
}

// become returns only when it failed.
func become() error {
	syscall.CloseOnExec(specFile)
	syscall.CloseOnExec(failureFile)
	var spec Spec
	if err := json.NewDecoder(os.NewFile(specFile, "spec")).Decode(&spec); err != nil {
		return fmt.Errorf("the kubelet of this container is gone: %w", err)
	}
	if err := leash.Tie(); err != nil {
		return err
	}
	syscall.Umask(0)
	if err := newRoot(spec); err != nil {
		return err
	}
	syscall.Umask(0o022)
	if spec.Hostname != "" {
		if err := syscall.Sethostname([]byte(spec.Hostname)); err != nil {
			return fmt.Errorf("hostname %s: %w", spec.Hostname, err)
		}
	}
	if len(spec.Arguments) == 0 {
		// Like the pause of a pod's sandbox, which holds the PID namespace and does nothing.
		return pause()
	}
	return run(spec)
}

func run(spec Spec) error {
	directory := spec.WorkingDirectory
	if directory == "" {
		directory = "/"
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	program, err := find(spec.Arguments[0], directory, spec.Environment)
	if err != nil {
		return err
	}
	if err := spec.Identity.take(); err != nil {
		return err
	}
	// A process that changes its user is untied (prctl(2)).
	if err := leash.Tie(); err != nil {
		return err
	}
	if err := os.Chdir(directory); err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	err = syscall.Exec(program, spec.Arguments, spec.Environment)
	return fmt.Errorf("exec %s: %w", program, err)
}

// pause waits for children that others left behind, until it is killed.
func pause() error {
	syscall.Close(specFile)
	syscall.Close(failureFile)
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil {
			syscall.Nanosleep(&syscall.Timespec{Sec: 1}, nil)
		}
	}
}
