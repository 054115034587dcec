// Package leash ends this process when the one that started it dies.
package leash

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// Variable has the id of the process that must live; without it nothing is held.
const Variable = "KUBERNETES_LAB_PARENT"

// Hold has Linux kill this process with its parent (prctl(2), PR_SET_PDEATHSIG): its main thread
// stays the one that asked, which is the one that is told.
func Hold() error {
	wanted := os.Getenv(Variable)
	if wanted == "" {
		return nil
	}
	runtime.LockOSThread()
	if err := Tie(); err != nil {
		return err
	}
	if parent := strconv.Itoa(os.Getppid()); parent != wanted {
		return fmt.Errorf("the process %s that wanted this one is gone", wanted)
	}
	return nil
}

// Tie has this thread's process killed when the thread that started it ends.
func Tie() error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0)
	if errno != 0 {
		return fmt.Errorf("PR_SET_PDEATHSIG: %w", errno)
	}
	return nil
}
