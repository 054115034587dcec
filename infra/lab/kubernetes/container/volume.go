package container

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// holder keeps files of the old root open while the root changes; err is the first that it could
// not.
type holder struct{ err error }

// bound is a Mount whose source is held.
type bound struct {
	Mount
	file      int
	directory bool
}

func (h *holder) holdAll(mounts []Mount) []bound {
	var all []bound
	for _, each := range mounts {
		all = append(all, h.hold(each))
	}
	return all
}

func (h *holder) hold(each Mount) bound {
	file, err := syscall.Open(each.Source, oPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		h.fail(each, err)
		return bound{}
	}
	about, err := os.Stat(each.Source)
	if err != nil {
		h.fail(each, err)
		return bound{}
	}
	return bound{each, file, about.IsDir()}
}

func (h *holder) fail(each Mount, err error) {
	if h.err == nil {
		h.err = fmt.Errorf("volume %s for %s: %w", each.Source, each.Target, err)
	}
}

// bind mounts it in the new root, and makes its mount point there as a runtime does.
func (b bound) bind() error {
	if err := b.makePoint(); err != nil {
		return err
	}
	source := fmt.Sprintf(held, b.file)
	if err := mount(source, b.Target, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return err
	}
	if err := syscall.Close(b.file); err != nil || !b.ReadOnly {
		return err
	}
	const readOnly = syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY
	return mount("", b.Target, "", readOnly, "")
}

func (b bound) makePoint() error {
	if b.directory {
		return os.MkdirAll(b.Target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(b.Target), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(b.Target, os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return file.Close()
}
