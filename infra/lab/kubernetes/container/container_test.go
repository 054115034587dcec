package container

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const mountinfo = `25 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
26 25 0:22 / /proc rw - proc proc rw
27 26 0:23 / /proc/sys/fs/binfmt_misc rw - binfmt_misc none rw
28 25 0:24 / /home/me rw - ext4 /dev/vdb rw
29 25 0:25 / /dev/shm rw - tmpfs tmpfs rw
30 25 0:26 / /data rw - xfs /dev/vdc rw
31 25 0:27 / /data rw - xfs /dev/vdd rw
32 25 0:28 / /var/log/kubelet/pods/x rw - tmpfs tmpfs rw
33 25 0:29 / /with\040blank rw - ext4 /dev/vde rw
34 25 0:30 / /devices rw - ext4 /dev/vdf rw
`

func TestFileSystemsBesideTheRootAreFoundOnceAndHiddenOnesNot(t *testing.T) {
	found := parse(mountinfo, slices.Concat(ofTheKernel, []string{"/var/log"}))
	if wanted := []string{"/data", "/devices", "/home/me"}; !slices.Equal(found, wanted) {
		t.Errorf("found %v, wanted %v", found, wanted)
	}
}

func TestTheLastOfSeveralValuesCounts(t *testing.T) {
	if found := value([]string{"A=1", "AB=2", "A=3"}, "A", "0"); found != "3" {
		t.Errorf("found %q, wanted 3", found)
	}
	if found := value(nil, "A", "0"); found != "0" {
		t.Errorf("found %q, wanted 0", found)
	}
}

func TestAProgramIsFoundOnTheContainersOwnPathAlone(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := []string{"PATH=/nowhere:" + folder}
	for name, wanted := range map[string]string{
		"program":   program,
		program:     program,
		"./program": program,
		"absent":    "",
		"/absent":   "",
	} {
		found, err := find(name, folder, path)
		if err != nil {
			found = ""
		}
		if found != wanted {
			t.Errorf("%s: found %q (%v), wanted %q", name, found, err, wanted)
		}
	}
	if _, err := find("program", folder, nil); err == nil {
		t.Error("found it though the container's PATH does not have it")
	}
}
