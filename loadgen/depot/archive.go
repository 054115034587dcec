package depot

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sums is the last entry of an archive: the SHA-256 of each file, as sha256sum
// prints it. An archive without it was cut short.
const Sums = "SHA256SUMS"

// largest bounds what is taken in: certificates and keys.
const largest = 1 << 20

// Send writes the run directory as a compressed tar. Files may still grow: of
// each what it held when it was opened is sent.
func (d Depot) Send(to io.Writer) error {
	packed, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	var sums strings.Builder
	err = fs.WalkDir(os.DirFS(d.in(runName)), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || isDraft(name) {
			return missing(err)
		}
		sum, err := d.add(archive, name)
		if err == nil {
			fmt.Fprintf(&sums, "%s  %s\n", sum, name)
		}
		return missing(err)
	})
	if err == nil {
		err = addText(archive, Sums, sums.String())
	}
	return errors.Join(err, archive.Close(), packed.Close())
}

// missing forgives that a file is gone again, as a draft that found its place is, or that
// there is no run yet.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// isDraft tells that a file is still being made and will get its name later.
func isDraft(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") }

// add appends one file and returns the SHA-256 of what it appended.
func (d Depot) add(archive *tar.Writer, name string) (string, error) {
	file, err := os.Open(filepath.Join(d.in(runName), name))
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	header := &tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime()}
	if err := archive.WriteHeader(header); err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.CopyN(io.MultiWriter(archive, sum), file, info.Size())
	return hex.EncodeToString(sum.Sum(nil)), err
}

func addText(archive *tar.Writer, name, text string) error {
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
		return err
	}
	_, err := io.WriteString(archive, text)
	return err
}

// Take reads a tar of a few small files into a folder of the depot, readable by
// its user only. It ends with the archive, whatever follows.
func (d Depot) Take(folder string, from io.Reader) error {
	into, err := os.OpenRoot(d.in(folder))
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }()
	for archive := tar.NewReader(from); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg || header.Size > largest {
			return fmt.Errorf("%q is not a small file", header.Name)
		}
		if err := takeOne(into, header.Name, archive); err != nil {
			return err
		}
	}
}

func takeOne(into *os.Root, name string, from io.Reader) error {
	file, err := into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
