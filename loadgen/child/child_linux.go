// Package child starts programs apart from us and ends them with all that they started.
package child

import (
	"os/exec"
	"syscall"
)

// Separate gives a program a process group of its own: a Ctrl-C for us does not reach it, and Kill
// reaches what it starts. It takes effect before the program starts.
func Separate(program *exec.Cmd) {
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// Kill ends a separated program that has not been waited for, and what it started.
func Kill(program *exec.Cmd) {
	_ = syscall.Kill(-program.Process.Pid, syscall.SIGKILL)
}
