package pace

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// descriptor is an alarm that is exact to some tens of microseconds: a timer descriptor wakes the
// runtime's poller at the right moment. The poller is told of each expiry, so that
// the descriptor need not be read, and setting it is the only system call.
type descriptor struct {
	file *os.File
	raw  syscall.RawConn
}

// NewAlarm returns an alarm by a timer descriptor, or, where there is none, by the runtime.
func NewAlarm() Alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return NewTimer()
	}
	file := os.NewFile(uintptr(fd), "timerfd")
	raw, err := file.SyscallConn()
	if err != nil || file.SetReadDeadline(time.Time{}) != nil { // the poller does not know it
		_ = file.Close()
		return NewTimer()
	}
	return &descriptor{file, raw}
}

func (d *descriptor) Set(in time.Duration) {
	timer := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(in))}
	err := d.raw.Control(func(fd uintptr) {
		if err := unix.TimerfdSettime(int(fd), 0, &timer, nil); err != nil {
			panic(err) // or an alarm would never go off
		}
	})
	if err != nil {
		panic(err)
	}
}

// Wait relies on RawConn: from the first call of done on, an expiry is either waited for or
// remembered.
func (d *descriptor) Wait(done func() bool) {
	if err := d.raw.Read(func(uintptr) bool { return done() }); err != nil {
		panic(err)
	}
}

func (d *descriptor) Close() { _ = d.file.Close() }
