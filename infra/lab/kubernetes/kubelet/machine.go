package kubelet

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"brownout/infra/lab/kubernetes/container"
)

// In the node's own mount namespace /var/log is memory of its own, and what is written to /var/lib
// goes there: a kubelet writes to both whatever it is told (/var/lib/kubelet/device-plugins is a
// constant of its API). The name is short enough for the sockets that it makes below its directory.
const (
	private = "/var/log"
	state   = "/var/lib"
	home    = private + "/kubelet"
	socket  = private + "/runtime.sock"
)

// isolated is set in the environment of a process that has its own mount namespace already.
const isolated = "KUBERNETES_LAB_ISOLATED"

// tunables are the kernel's settings that a kubelet insists on (setupKernelTunables in
// pkg/kubelet/cm/container_manager_linux.go); it is shown them instead of being let to set them.
var tunables = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// isolate gives this process a mount namespace of its own, so that nothing it mounts or writes for
// itself is this machine's, and all of it is gone with it. It starts this program again in there.
func isolate(directory string) error {
	if os.Getenv(isolated) != "" {
		return nil
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("a node needs root, for namespaces and mounts of its own")
	}
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return fmt.Errorf("a mount namespace of its own: %w", err)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	if err := ownPlace(directory); err != nil {
		return err
	}
	for name, value := range tunables {
		if err := show(name, value); err != nil {
			return err
		}
	}
	arguments := append([]string{os.Args[0], "kubelet"}, os.Args[1:]...)
	return syscall.Exec("/proc/self/exe", arguments, append(os.Environ(), isolated+"=1"))
}

func ownPlace(directory string) error {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", private, "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("%s: %w", private, err)
	}
	if err := os.Mkdir(home, 0o755); err != nil {
		return err
	}
	if err := bind(directory, home); err != nil {
		return err
	}
	return container.Overlay(state, state, filepath.Join(private, "lib"))
}

func show(name, value string) error {
	copied := filepath.Join(private, filepath.Base(name))
	if err := os.WriteFile(copied, []byte(value+"\n"), 0o600); err != nil {
		return err
	}
	return bind(copied, filepath.Join("/proc/sys", name))
}

func bind(from, to string) error {
	if err := syscall.Mount(from, to, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("%s at %s: %w", from, to, err)
	}
	return nil
}
