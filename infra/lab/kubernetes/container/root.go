package container

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	oPath = 0x200000 // O_PATH of open(2): hold a file without opening it
	held  = "/proc/self/fd/%d"

	former = "/.before"
)

// devices are those that every container has (OCI runtime specification, "Default Devices").
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// newRoot makes this process's own mount namespace the container's: this machine's files beneath an
// overlay that keeps what is written in memory, its own /proc and /dev, and the volumes.
func newRoot(spec Spec) error {
	if err := mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	beside, err := mountPoints(spec.Hidden)
	if err != nil {
		return err
	}
	var files holder
	volumes := files.holdAll(spec.Mounts)
	nodes := files.holdAll(deviceMounts())
	sys := files.holdAll([]Mount{{Source: "/sys", Target: "/sys", ReadOnly: true}})
	if files.err != nil {
		return files.err
	}
	root, err := overlays(spec.Directory, beside)
	if err != nil {
		return err
	}
	if err := enter(root); err != nil {
		return err
	}
	if err := kernelFiles(); err != nil {
		return err
	}
	slices.SortStableFunc(volumes, func(a, b bound) int {
		return cmp.Compare(strings.Count(a.Target, "/"), strings.Count(b.Target, "/"))
	})
	for _, each := range slices.Concat(nodes, sys, volumes) {
		if err := each.bind(); err != nil {
			return err
		}
	}
	if err := leave(); err != nil {
		return err
	}
	if spec.Identity.User != 0 {
		openHome("/root")
	}
	if spec.ReadOnlyRoot {
		return mount("", "/", "", syscall.MS_REMOUNT|syscall.MS_RDONLY|syscall.MS_BIND, "")
	}
	return nil
}

// overlays lays one over this machine's root and one over each file system beside it.
func overlays(directory string, beside []string) (string, error) {
	layer := filepath.Join(directory, "layer")
	if err := os.MkdirAll(layer, 0o700); err != nil {
		return "", err
	}
	if err := mount("tmpfs", layer, "tmpfs", 0, "mode=755"); err != nil {
		return "", err
	}
	root := filepath.Join(layer, "root")
	for index, lower := range append([]string{"/"}, beside...) {
		target := filepath.Join(root, lower)
		if err := Overlay(lower, target, filepath.Join(layer, fmt.Sprint(index))); err != nil {
			return "", err
		}
	}
	return root, nil
}

// Overlay shows a directory at `target`, and keeps what is written there in `layer`.
func Overlay(lower, target, layer string) error {
	upper, work := filepath.Join(layer, "upper"), filepath.Join(layer, "work")
	for _, folder := range []string{upper, work, target} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", lower, upper, work)
	return mount("overlay", target, "overlay", 0, options)
}

// enter makes `root` the root; the one before stays at `former` for what is mounted of it.
func enter(root string) error {
	before := filepath.Join(root, former)
	if err := os.Mkdir(before, 0o700); err != nil {
		return err
	}
	if err := syscall.PivotRoot(root, before); err != nil {
		return fmt.Errorf("pivot_root %s: %w", root, err)
	}
	return os.Chdir("/")
}

// leave unmounts the earlier root.
func leave() error {
	if err := syscall.Unmount(former, syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("umount the former root: %w", err)
	}
	return os.Remove(former)
}

func kernelFiles() error {
	if err := mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	if err := mount("tmpfs", "/dev", "tmpfs", syscall.MS_NOSUID, "mode=755"); err != nil {
		return err
	}
	for _, folder := range []string{"/dev/pts", "/dev/shm"} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	terminals := "newinstance,ptmxmode=0666,mode=0620"
	if err := mount("devpts", "/dev/pts", "devpts", syscall.MS_NOSUID, terminals); err != nil {
		return err
	}
	for link, target := range map[string]string{
		"ptmx": "pts/ptmx", "fd": "/proc/self/fd",
		"stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, "/dev/"+link); err != nil {
			return err
		}
	}
	return mount("tmpfs", "/dev/shm", "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "mode=1777")
}

func deviceMounts() []Mount {
	var found []Mount
	for _, name := range devices {
		found = append(found, Mount{Source: "/dev/" + name, Target: "/dev/" + name})
	}
	return found
}

func mount(source, target, kind string, flags uintptr, options string) error {
	if err := syscall.Mount(source, target, kind, flags, options); err != nil {
		return fmt.Errorf("mount %s %s at %s: %w", kind, source, target, err)
	}
	return nil
}
