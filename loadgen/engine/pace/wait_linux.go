package pace

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Waiter sleeps to within some tens of microseconds. The runtime's own timers
// round up to a whole millisecond when a process is idle; a timer descriptor
// wakes the runtime's poller at the right moment.
type Waiter struct {
	file   *os.File
	raw    syscall.RawConn
	buffer [8]byte
}

// NewWaiter opens the timer. Where there is none, it sleeps as others do.
func NewWaiter() *Waiter {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &Waiter{}
	}
	file := os.NewFile(uintptr(fd), "timerfd")
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return &Waiter{}
	}
	return &Waiter{file: file, raw: raw}
}

// Wait sleeps for d.
func (w *Waiter) Wait(d time.Duration) {
	if d > 0 && !w.precisely(d) {
		time.Sleep(d)
	}
}

func (w *Waiter) precisely(d time.Duration) bool {
	if w.file == nil {
		return false
	}
	timer := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	var failed error
	err := w.raw.Control(func(fd uintptr) { failed = unix.TimerfdSettime(int(fd), 0, &timer, nil) })
	if err != nil || failed != nil {
		return false
	}
	_, err = w.file.Read(w.buffer[:])
	return err == nil
}

// Close frees the timer.
func (w *Waiter) Close() {
	if w.file != nil {
		_ = w.file.Close()
	}
}
