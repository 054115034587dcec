package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestARunWritesAProfileIfAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "profile")
	for _, test := range []struct {
		path string
		code int
		told string
	}{
		{path, 0, ""},
		{filepath.Join(path, "in-a-file"), 1, "--pprof: open "},
	} {
		run := exec.Command(os.Args[0], "run", "--pprof", test.path)
		run.Env = append(os.Environ(), asCommand+"=1")
		var diagnostics bytes.Buffer
		run.Stderr = &diagnostics
		_ = run.Run() // its input is empty, so it ends at once
		if code := run.ProcessState.ExitCode(); code != test.code || !strings.Contains(diagnostics.String(), test.told) {
			t.Errorf("exit code %d and %q, wanted %d and %q", code, diagnostics.String(), test.code, test.told)
		}
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		t.Errorf("no compressed profile in %d bytes, %v", len(text), err)
	}
}
