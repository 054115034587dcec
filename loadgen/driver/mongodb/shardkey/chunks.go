package shardkey

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Bound is a value of a shard key where a chunk begins: a hash, a string, or
// below and above all of them.
type Bound struct {
	rank   int // below all, a number, a string, above all
	number int64
	text   string
}

const (
	rankLowest = iota
	rankNumber
	rankString
	rankHighest
)

// Lowest is below every value (MinKey).
func Lowest() Bound { return Bound{rank: rankLowest} }

// Number is a hash as a bound.
func Number(n int64) Bound { return Bound{rank: rankNumber, number: n} }

func (b Bound) compare(other Bound) int {
	return cmp.Or(cmp.Compare(b.rank, other.rank), cmp.Compare(b.number, other.number),
		cmp.Compare(b.text, other.text))
}

// Chunk is a range of a shard key that begins at Min, and the shard that has it.
type Chunk struct {
	Min   Bound
	Shard string
}

// Chunks is a sharded collection: its key, hashed or not, and its chunks.
type Chunks struct {
	hashed bool
	sorted []Chunk
}

// ErrOtherKey tells of a collection that is not sharded by _id alone.
var ErrOtherKey = errors.New("it is not sharded by _id alone")

// NewChunks makes a collection of what config.collections has as its key and
// config.chunks as its chunks.
func NewChunks(key bson.D, chunks []Chunk) (*Chunks, error) {
	if len(key) != 1 || key[0].Key != "_id" {
		return nil, ErrOtherKey
	}
	c := &Chunks{hashed: key[0].Value == "hashed", sorted: slices.Clone(chunks)}
	slices.SortFunc(c.sorted, func(a, b Chunk) int { return a.Min.compare(b.Min) })
	return c, nil
}

// ShardOf names the shard that has the document with this _id; "" for none.
func (c *Chunks) ShardOf(id string) string {
	wanted := Bound{rank: rankString, text: id}
	if c.hashed {
		wanted = Number(Hash(id))
	}
	after, found := slices.BinarySearchFunc(c.sorted, wanted, func(chunk Chunk, b Bound) int {
		return chunk.Min.compare(b)
	})
	if found {
		return c.sorted[after].Shard
	}
	if after == 0 {
		return ""
	}
	return c.sorted[after-1].Shard
}

// Len is how many chunks there are.
func (c *Chunks) Len() int { return len(c.sorted) }

// BoundOf reads a bound of config.chunks: {_id: MinKey}, {_id: NumberLong(…)}, {_id: "…"}.
func BoundOf(document bson.Raw) (Bound, error) {
	value := document.Lookup("_id")
	switch value.Type {
	case bson.TypeMinKey:
		return Lowest(), nil
	case bson.TypeMaxKey:
		return Bound{rank: rankHighest}, nil
	case bson.TypeInt64, bson.TypeInt32:
		return Number(value.AsInt64()), nil
	case bson.TypeString:
		return Bound{rank: rankString, text: value.StringValue()}, nil
	}
	return Bound{}, fmt.Errorf("a chunk begins at %v: wanted a number, a string or MinKey", document)
}
