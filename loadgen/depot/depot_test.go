package depot

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// content is a file of a run that no text could hold.
var content = bytes.Repeat([]byte{0, 0xff, '\n', 0x80, 'x'}, 100_000)

func filled(t *testing.T) (Depot, string) {
	t.Helper()
	path := t.TempDir()
	d := At(path)
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(path, "run", "latency.hlog"), content)
	put(t, filepath.Join(path, "run", "series.csv"), nil)
	put(t, filepath.Join(path, "run", ".generator.json.new"), []byte("half"))
	return d, path
}

func put(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// unpacked returns the entries of what Send wrote.
func unpacked(t *testing.T, packed io.Reader) map[string][]byte {
	t.Helper()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if found[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheFilesAreSentWholeWithTheirSums(t *testing.T) {
	d, _ := filled(t)
	var packed bytes.Buffer
	if err := d.Send(&packed); err != nil {
		t.Fatal(err)
	}
	found := unpacked(t, &packed)
	if !bytes.Equal(found["latency.hlog"], content) || len(found) != 3 {
		t.Errorf("found %d entries, the large one has %d bytes", len(found), len(found["latency.hlog"]))
	}
	wanted := fmt.Sprintf("%x  latency.hlog\n%x  series.csv\n", sha256.Sum256(content), sha256.Sum256(nil))
	if string(found[Sums]) != wanted {
		t.Errorf("sums: %s, wanted %s", found[Sums], wanted)
	}
}

func TestAFileThatGrowsIsSentAsItWas(t *testing.T) {
	d, path := filled(t)
	grows, err := os.OpenFile(filepath.Join(path, "run", "latency.hlog"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = grows.Write(content)
				time.Sleep(time.Millisecond)
			}
		}
	}()
	var packed bytes.Buffer
	err = d.Send(&packed)
	close(stop)
	<-stopped
	if err := grows.Close(); err != nil {
		t.Fatal(err)
	}
	found := unpacked(t, &packed)
	sum := fmt.Sprintf("%x  latency.hlog", sha256.Sum256(found["latency.hlog"]))
	if err != nil || !strings.Contains(string(found[Sums]), sum) {
		t.Errorf("%v; sums %s, wanted %s", err, found[Sums], sum)
	}
}

func TestADepotWithoutARunIsSentEmpty(t *testing.T) {
	var packed bytes.Buffer
	if err := At(t.TempDir()).Send(&packed); err != nil {
		t.Fatal(err)
	}
	if found := unpacked(t, &packed); len(found) != 1 || len(found[Sums]) != 0 {
		t.Errorf("found %v", found)
	}
}

func archiveOf(t *testing.T, headers ...*tar.Header) *bytes.Buffer {
	t.Helper()
	var made bytes.Buffer
	archive := tar.NewWriter(&made)
	for _, header := range headers {
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(make([]byte, header.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return &made
}

func TestCertificatesAreTakenIntoAFolderForOneUser(t *testing.T) {
	path := t.TempDir()
	put(t, filepath.Join(path, "tls", "ca.pem"), []byte("an older and longer one"))
	made := archiveOf(t, &tar.Header{Name: "key.pem", Size: 7}, &tar.Header{Name: "ca.pem", Size: 3})
	// The connection stays open: only the archive itself says that it is over.
	open, writer := io.Pipe()
	go func() { _, _ = made.WriteTo(writer) }()
	if err := At(path).Take("tls", open); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(path, "tls", "key.pem"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 7 {
		t.Errorf("%v, %v", info, err)
	}
	if text, _ := os.ReadFile(filepath.Join(path, "tls", "ca.pem")); len(text) != 3 {
		t.Errorf("found %q", text)
	}
}

func TestNothingIsWrittenOutsideOfTheFolder(t *testing.T) {
	path := t.TempDir()
	put(t, filepath.Join(path, "tls", "ca.pem"), nil)
	for _, header := range []*tar.Header{
		{Name: "../pid", Size: 1},
		{Name: "/tmp/brownout-depot-test", Size: 1},
		{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "large", Size: largest + 1},
	} {
		if err := At(path).Take("tls", archiveOf(t, header)); err == nil {
			t.Errorf("%q was taken", header.Name)
		}
	}
	if _, err := os.Stat(filepath.Join(path, "pid")); err == nil {
		t.Error("a file was written outside")
	}
}

func TestAGeneratorHoldsItsFilesUntilItIsReleased(t *testing.T) {
	d, _ := filled(t)
	held := make(chan error)
	go func() { held <- d.Hold(3, time.Hour) }()
	if !d.await("ended", time.Minute) {
		t.Fatal("it did not say that it has ended")
	}
	code, err := d.End(time.Minute) // it has ended already: no signal is sent
	if code != 3 || err != nil {
		t.Errorf("code %d, %v", code, err)
	}
	if err := d.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-held; err != nil {
		t.Error(err)
	}
}

func TestAGeneratorThatNobodyReleasesEndsAllTheSame(t *testing.T) {
	d, _ := filled(t)
	if err := d.Hold(0, time.Millisecond); err != nil {
		t.Error(err)
	}
}

func TestAGeneratorIsToldToEnd(t *testing.T) {
	d, path := filled(t)
	generator := exec.Command("sh", "-c", `trap 'printf 5 > "$0/ended"; exit' TERM
		echo $$ > "$0/pid"; echo; while :; do sleep 0.01; done`, path)
	ready, err := generator.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := generator.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if code, err := d.End(time.Minute); code != 5 || err != nil {
		t.Errorf("code %d, %v", code, err)
	}
	if err := generator.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAGeneratorThatDoesNotEndIsSaid(t *testing.T) {
	d, path := filled(t)
	sleeper := exec.Command("sh", "-c", `trap '' TERM; echo $$ > "$0/pid"; echo; exec sleep 60`, path)
	ready, err := sleeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.End(time.Millisecond); err == nil || !strings.Contains(err.Error(), "has not ended") {
		t.Errorf("%v", err)
	}
	_ = sleeper.Process.Kill()
	_ = sleeper.Wait()
}
