package merge

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"brownout/loadgen/runfile"
)

// addTables adds a file of counts bucket by bucket, over the buckets that every part has, and
// returns their number. `max_us` is the largest one.
func (r *run) addTables(name string, columns []string) (buckets int64, err error) {
	all, close, err := r.openAll(name)
	if err != nil {
		return 0, err
	}
	defer close()
	tables := make([]*runfile.Table, len(all))
	for i, each := range all {
		if tables[i], err = runfile.NewTable(each, columns); err != nil {
			return 0, err
		}
	}
	err = r.replace(name, func(out *bufio.Writer) error {
		_, _ = out.WriteString("t,stream,op," + strings.Join(columns, ",") + "\n")
		var line []byte
		for {
			for _, t := range tables {
				if more, err := t.Read(); err != nil || !more {
					return err
				}
			}
			if buckets == 0 {
				if err := sameStreams(tables); err != nil {
					return err
				}
			}
			one := tables[0]
			for _, t := range tables[1:] {
				for i, n := range t.Counts {
					if columns[i%len(columns)] == "max_us" {
						one.Counts[i] = max(one.Counts[i], n)
					} else {
						one.Counts[i] += n
					}
				}
			}
			for i, key := range one.Keys {
				line = append(runfile.AppendBucket(line[:0], buckets), key...)
				for j := range columns {
					line = append(strconv.AppendInt(line, one.Counts[i*len(columns)+j], 10), ',')
				}
				line[len(line)-1] = '\n'
				if _, err := out.Write(line); err != nil {
					return &WriteError{err}
				}
			}
			buckets++
		}
	})
	return buckets, err
}

func sameStreams(tables []*runfile.Table) error {
	one := bytes.Join(tables[0].Keys, nil)
	for _, t := range tables[1:] {
		if other := bytes.Join(t.Keys, nil); !bytes.Equal(one, other) {
			return &runfile.Error{File: t.File, Text: "the generators' series are of different streams: `" +
				string(other) + "`, and `" + string(one) + "` in " + tables[0].File}
		}
	}
	return nil
}
