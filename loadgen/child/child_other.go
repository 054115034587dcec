//go:build !linux

package child

import "os/exec"

// Separate does nothing here.
func Separate(*exec.Cmd) {}

// Kill ends a program, but not what it started.
func Kill(program *exec.Cmd) { _ = program.Process.Kill() }
