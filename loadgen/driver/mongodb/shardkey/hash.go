// Package shardkey says where a document of a sharded collection belongs, as a
// MongoDB router does: by the value of its shard key, hashed or as it is, and
// the chunks of the collection.
package shardkey

import (
	"crypto/md5"
	"encoding/binary"
)

// canonicalString is the server's canonical type of a string.
const canonicalString = 15

// Hash is the value of a string in a hashed index, as the server computes it
// (src/mongo/db/hasher.cpp): the first eight bytes of the MD5 of a seed of 0, the
// canonical type, and the value as BSON has it.
func Hash(text string) int64 {
	bytes := make([]byte, 0, len(text)+13)
	bytes = binary.LittleEndian.AppendUint32(bytes, 0)
	bytes = binary.LittleEndian.AppendUint32(bytes, canonicalString)
	bytes = binary.LittleEndian.AppendUint32(bytes, uint32(len(text)+1))
	bytes = append(append(bytes, text...), 0)
	sum := md5.Sum(bytes)
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}
