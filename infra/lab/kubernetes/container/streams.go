package container

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Streams are the ends that a process has of its standard files; nil is /dev/null.
type Streams struct{ Stdin, Stdout, Stderr *os.File }

var null = sync.OnceValue(func() *os.File {
	file, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		panic(err) // no Linux is without
	}
	return file
})

func (s Streams) files() []uintptr {
	var all []uintptr
	for _, file := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if file == nil {
			file = null()
		}
		all = append(all, file.Fd())
	}
	return all
}

// Close closes the process's ends, once it has them.
func (s Streams) Close() {
	for _, file := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if file != nil {
			file.Close()
		}
	}
}

// Terminal opens a pseudo-terminal (ptmx(4)): our end, and the process's.
func Terminal() (ours, theirs *os.File, err error) {
	ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		name := fmt.Sprintf("/dev/pts/%d", number)
		theirs, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		ours.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// Resize says how large the terminal of our end is.
func Resize(ours *os.File, columns, rows uint16) error {
	return unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
}
