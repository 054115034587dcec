package vote

import (
	"os/exec"
	"syscall"
)

// separate keeps a Ctrl-C for us from ending the endpoint under a load that still drains.
func separate(process *exec.Cmd) {
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
