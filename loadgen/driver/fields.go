package driver

import "strconv"

// MaxFields bounds the fields of a value.
const MaxFields = 100

// FieldNames are what the fields of a value are stored as: the first is "v", and is the
// only one of most values.
var FieldNames = func() (names [MaxFields]string) {
	names[0] = "v"
	for i := 1; i < MaxFields; i++ {
		names[i] = "v" + strconv.Itoa(i)
	}
	return names
}()

// Field cuts field i out of a value of n fields; the last one has what is left over.
func Field(value []byte, i, n int) []byte {
	size := len(value) / n
	if i == n-1 {
		return value[i*size:]
	}
	return value[i*size : (i+1)*size]
}
