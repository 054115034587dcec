package device

import (
	"fmt"
	"os"
	"sync"

	"brownout/infra/lab/asd/record"
)

// place is where a record's slot is.
type place struct {
	at    int64
	units int
}

// Device is the open file of one node. Put and Remove only note what is to be written; Flush writes
// it. What a kill finds noted and not written is lost, as with the real server's write blocks.
type Device struct {
	file *os.File
	size int64

	mu     sync.Mutex
	header *header
	noted  map[record.Digest]*record.Record // nil: to be removed
	used   int64                            // of live slots

	writing sync.Mutex // held by the one flush at a time; guards the rest
	end     int64      // where the next new slot goes
	places  map[record.Digest]place
	free    map[int][]int64 // by units
}

// Open opens or makes the file of that size; partitions is how many the header has room for. Tells
// whether the device is fresh. Load comes next.
func Open(path string, size int64, partitions int) (*Device, bool, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, false, err
	}
	h, fresh, err := openHeader(file, size, partitions)
	if err != nil {
		file.Close()
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	return &Device{
		file: file, size: size, header: h, end: HeaderSize,
		noted:  map[record.Digest]*record.Record{},
		places: map[record.Digest]place{},
		free:   map[int][]int64{},
	}, fresh, nil
}

func openHeader(file *os.File, size int64, partitions int) (*header, bool, error) {
	if size < 2*HeaderSize {
		return nil, false, fmt.Errorf("a size of %d bytes, wanted %d or more", size, 2*HeaderSize)
	}
	if err := file.Truncate(size); err != nil {
		return nil, false, err
	}
	h, fresh, err := readHeader(file, partitions)
	if err == nil && fresh {
		err = h.write(file)
	}
	return h, fresh, err
}

// Epoch is the random number that this device was initialized to.
func (d *Device) Epoch() uint64 { return d.header.epoch }

// Size is the size of the file.
func (d *Device) Size() int64 { return d.size }

// Used returns how many bytes of the file live records take.
func (d *Device) Used() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used
}

// Partition returns what was saved of partition i.
func (d *Device) Partition(i int) Partition {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.header.partitions[i]
}

// SavePartition writes what the node has of partition i to the file at once.
func (d *Device) SavePartition(i int, p Partition) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.header.partitions[i] == p {
		return nil
	}
	d.header.partitions[i] = p
	return d.header.writePartition(d.file, i)
}

// StagePartition changes what the node has of partition i, to be written by SaveStaged with others.
func (d *Device) StagePartition(i int, p Partition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.header.partitions[i] = p
}

// SaveStaged writes every partition to the file.
func (d *Device) SaveStaged() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.header.writePartitions(d.file)
}

// Put notes a record to be written in place of any other version of it.
func (d *Device) Put(r *record.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noted[r.Digest] = r
}

// Remove notes that a record is to be removed.
func (d *Device) Remove(digest record.Digest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noted[digest] = nil
}

// Close writes all that is noted and then the whole header from memory: what was wiped of it
// while the node was running is there again.
func (d *Device) Close() error {
	err := d.Flush()
	d.mu.Lock()
	defer d.mu.Unlock()
	if werr := d.header.write(d.file); err == nil {
		err = werr
	}
	if cerr := d.file.Close(); err == nil {
		err = cerr
	}
	return err
}
