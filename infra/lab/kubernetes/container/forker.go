package container

import (
	"runtime"
	"sync"
	"syscall"
)

// forks are done by one thread that never ends: Linux kills a container with the thread that
// started it (prctl(2), PR_SET_PDEATHSIG), and so with this process.
var forks = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for each := range work {
			each()
		}
	}()
	return work
})

// fork starts a program from that thread.
func fork(program string, arguments []string, how *syscall.ProcAttr) (pid int, err error) {
	done := make(chan struct{})
	forks() <- func() {
		defer close(done)
		pid, err = syscall.ForkExec(program, arguments, how)
	}
	<-done
	return pid, err
}
