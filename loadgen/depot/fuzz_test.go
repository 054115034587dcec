package depot

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzTake: whatever comes over the wire, nothing is written outside of the folder.
func FuzzTake(f *testing.F) {
	for _, name := range []string{"ca_file", "../pid", "/etc/passwd", "a/b", ""} {
		var made bytes.Buffer
		archive := tar.NewWriter(&made)
		if err := archive.WriteHeader(&tar.Header{Name: name, Size: 1}); err == nil {
			_, _ = archive.Write([]byte("x"))
		}
		_ = archive.Close()
		f.Add(made.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := t.TempDir()
		if err := os.Mkdir(filepath.Join(path, "tls"), 0o700); err != nil {
			t.Fatal(err)
		}
		_ = At(path).Take("tls", bytes.NewReader(data))
		entries, err := os.ReadDir(path)
		if err != nil || len(entries) != 1 {
			t.Errorf("%v, %v", entries, err)
		}
	})
}
