package drivertest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// lab is the module of the stand-ins, seen from where the tests of a driver run.
const lab = "../../../infra/lab"

// StandIn builds a stand-in of the lab, "asd" or "router", into a directory and returns the program.
func StandIn(t testing.TB, name, directory string) string {
	t.Helper()
	// `go test` tests again only if a file changed that the test opened, and what a build opens it does not see.
	sources := os.DirFS(filepath.Join(lab, name))
	if err := fs.WalkDir(sources, ".", func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(directory, name+"-stand-in")
	build := exec.Command("go", "build", "-C", lab, "-o", program, "./"+name)
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the stand-in: %v\n%s", err, said)
	}
	return program
}
