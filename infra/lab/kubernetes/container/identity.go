package container

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"
)

const (
	prSetNoNewPrivileges = 38 // <linux/prctl.h>
	everybody            = 0o001
)

// take makes this thread that identity; the program that it becomes has it whole.
func (i Identity) take() error {
	if i.NoNewPrivileges {
		if _, _, no := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivileges, 1, 0, 0, 0, 0); no != 0 {
			return fmt.Errorf("no new privileges: %w", no)
		}
	}
	var groups unsafe.Pointer
	if len(i.Groups) > 0 {
		groups = unsafe.Pointer(&i.Groups[0])
	}
	if _, _, no := syscall.RawSyscall(syscall.SYS_SETGROUPS, uintptr(len(i.Groups)), uintptr(groups), 0); no != 0 {
		return fmt.Errorf("groups %v: %w", i.Groups, no)
	}
	if _, _, no := syscall.RawSyscall(syscall.SYS_SETGID, uintptr(i.Group), 0, 0); no != 0 {
		return fmt.Errorf("group %d: %w", i.Group, no)
	}
	if _, _, no := syscall.RawSyscall(syscall.SYS_SETUID, uintptr(i.User), 0, 0); no != 0 {
		return fmt.Errorf("user %d: %w", i.User, no)
	}
	return nil
}

func (i Identity) credential() *syscall.Credential {
	return &syscall.Credential{Uid: i.User, Gid: i.Group, Groups: i.Groups}
}

// openHome lets everybody through a directory, in this container alone: an image has its programs
// where its user can run them, and this machine may have them below root's home.
func openHome(directory string) {
	if about, err := os.Stat(directory); err == nil && about.Mode()&everybody == 0 {
		_ = os.Chmod(directory, about.Mode().Perm()|everybody)
	}
}

// find returns where a program is, as execvp(3) finds it.
func find(name, directory string, environment []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(directory, name)
		}
		return name, runnable(name)
	}
	for _, folder := range strings.Split(value(environment, "PATH", Path), ":") {
		if candidate := filepath.Join(folder, name); runnable(candidate) == nil {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("exec: %q: executable file not found in $PATH", name)
}

func runnable(file string) error {
	about, err := os.Stat(file)
	if err != nil {
		return err
	}
	if about.IsDir() || about.Mode()&0o111 == 0 {
		return fmt.Errorf("exec: %q: permission denied", file)
	}
	return nil
}

// value returns what a variable is last set to.
func value(environment []string, name, otherwise string) string {
	for _, each := range environment {
		if found, ok := strings.CutPrefix(each, name+"="); ok {
			otherwise = found
		}
	}
	return otherwise
}
