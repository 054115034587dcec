package runfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Stored is a payload in a file, and the number of the row that it belongs to.
type Stored struct{ Row, Place, Size int64 }

// mostPayload bounds a payload: what it holds stays small, whatever it is.
const mostPayload = 1 << 18

// ReadStored reads what brownout wants the percentiles of, three little-endian numbers of 64 bits
// each, the rows in ascending order.
func ReadStored(in io.Reader) ([]Stored, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if len(data)%24 != 0 {
		return nil, fmt.Errorf("found %d bytes on stdin (wanted row, place and size, of 8 bytes each)", len(data))
	}
	all := make([]Stored, 0, len(data)/24)
	for ; len(data) > 0; data = data[24:] {
		number := func(i int) int64 { return int64(binary.LittleEndian.Uint64(data[8*i:])) }
		one := Stored{number(0), number(1), number(2)}
		if one.Size < 0 || one.Place < 0 || len(all) > 0 && one.Row < all[len(all)-1].Row {
			return nil, fmt.Errorf("found row %d, place %d, size %d on stdin (wanted none below 0, and ascending rows)",
				one.Row, one.Place, one.Size)
		}
		all = append(all, one)
	}
	return all, nil
}

// Percentiles returns, for each row that has a payload, the time in µs of each ratio in all of the
// row's histograms together: the highest time that counts the same as the operation of that rank,
// or -1 without operations. The rank is ceil(ratio n), at least 1. The ratios ascend.
func Percentiles(path string, stored []Stored, ratios []float64) ([]int64, error) {
	name := filepath.Base(path)
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer file.Close()
	begins := []int{}
	for i, one := range stored {
		if i == 0 || one.Row != stored[i-1].Row {
			begins = append(begins, i)
		}
	}
	found := make([]int64, len(begins)*len(ratios))
	begins = append(begins, len(stored))
	workers := min(runtime.GOMAXPROCS(0), len(begins)-1)
	errs := make([]error, workers)
	shapes := make([]*shape, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			sum := &sum{file: file}
			for row := w * (len(begins) - 1) / workers; row < (w+1)*(len(begins)-1)/workers; row++ {
				for _, one := range stored[begins[row]:begins[row+1]] {
					if errs[w] = sum.add(one); errs[w] != nil {
						return
					}
				}
				sum.take(ratios, found[row*len(ratios):][:len(ratios)])
			}
			shapes[w] = sum.shape
		}()
	}
	all.Wait()
	for w, err := range errs {
		if err == nil && w > 0 {
			err = same(shapes[w-1], shapes[w])
		}
		if err != nil {
			return nil, &Error{name, 0, err.Error()}
		}
	}
	return found, nil
}

// sum adds up the histograms of a row.
type sum struct {
	file   *os.File
	text   []byte
	from   decoder
	shape  *shape
	counts []int64
	least  int // the lowest index that has a count
	most   int // one beyond the highest
	n      int64
}

func (s *sum) add(one Stored) error {
	if one.Size > mostPayload {
		return fmt.Errorf("a histogram of %d bytes is too long (wanted at most %d)", one.Size, mostPayload)
	}
	if int64(cap(s.text)) < one.Size {
		s.text = make([]byte, mostPayload)
	}
	text := s.text[:one.Size]
	if _, err := s.file.ReadAt(text, one.Place); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	shape, numbers, err := s.from.decode(text)
	if err != nil {
		return fmt.Errorf("a histogram cannot be decoded: %w: `%.40s…`", err, text)
	}
	if s.shape == nil {
		s.shape, s.counts = shape, make([]int64, shape.length())
		s.least = len(s.counts)
	}
	if err := same(s.shape, shape); err != nil {
		return err
	}
	for index := int64(0); len(numbers) > 0; {
		n, size := binary.Varint(numbers)
		if size <= 0 || size > mostBytes {
			return fmt.Errorf("a histogram cannot be decoded: a count of too many bytes: `%.40s…`", text)
		}
		numbers = numbers[size:]
		switch {
		case n < 0:
			index = min(index-n, int64(len(s.counts)))
			continue
		case n > 0 && index >= int64(len(s.counts)):
			return fmt.Errorf("a histogram cannot be decoded: a count beyond the highest value: `%.40s…`", text)
		case n > math.MaxInt64-s.n:
			return fmt.Errorf("the counts of a second overflow")
		case n > 0:
			s.counts[index] += n
			s.n += n
			s.least, s.most = min(s.least, int(index)), max(s.most, int(index)+1)
		}
		index++
	}
	return nil
}

// take writes the times of the ratios, and begins a new row.
func (s *sum) take(ratios []float64, found []int64) {
	reached, at := int64(0), 0
	for index := s.least; index < s.most; index++ {
		reached += s.counts[index]
		for ; at < len(ratios) && reached >= s.rank(ratios[at]); at++ {
			found[at] = s.shape.highest(index)
		}
		s.counts[index] = 0
	}
	for ; at < len(ratios); at++ {
		found[at] = -1
	}
	s.least, s.most, s.n = len(s.counts), 0, 0
}

func (s *sum) rank(ratio float64) int64 {
	// float64 keeps the compiler from rounding only once, as it may on other processors.
	return max(1, int64(math.Ceil(float64(ratio*float64(s.n))-1e-9)))
}
