package cassandra

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/cassandra-gocql-driver/v2"

	"brownout/loadgen/driver"
)

// A lane is the node that owned the key's token when the load began, which is the first one that the
// client asks: "owner 10.0.0.1:9042". With `local_dc` it is the owner among the nodes of that data centre,
// each of which has its own replicas. It keeps its name when that node is down, and the client asks the
// next replica. A batch over keys of several owners has a lane of its own.
const laneOwners = "owners"

// owned is the last token that a node owns, counted from the one before.
type owned struct {
	last int64
	lane string
}

// ring is all tokens in order.
type ring []owned

// ringOf reads which node has which tokens, of those in the data centre localDC, or of all if it is empty.
func ringOf(hosts []*gocql.HostInfo, localDC string) (ring, error) {
	var all ring
	there, centres := map[string]string{}, map[string]bool{}
	for _, host := range hosts {
		at, own := host.ConnectAddress().String(), addressOf(host)
		if other, taken := there[at]; taken {
			return nil, fmt.Errorf("the nodes %s and %s have one IP address, by which the client tells nodes apart; "+
				"give each one of its own", other, own)
		}
		there[at] = own
		centres[host.DataCenter()] = true
		if localDC != "" && host.DataCenter() != localDC {
			continue
		}
		lane := "owner " + own
		for _, text := range host.Tokens() {
			token, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("the token %q is not of the Murmur3Partitioner, which is wanted", text)
			}
			all = append(all, owned{token, lane})
		}
	}
	if localDC != "" && !centres[localDC] {
		return nil, fmt.Errorf("option local_dc is %q, and the cluster has no node there (wanted one of %s)",
			localDC, strings.Join(slices.Sorted(maps.Keys(centres)), ", "))
	}
	if len(all) == 0 {
		return nil, errNoTokens
	}
	slices.SortFunc(all, func(a, b owned) int { return cmp.Compare(a.last, b.last) })
	return all, nil
}

// laneOf is that of one partition key.
func (r ring) laneOf(key string) string {
	token := tokenOf(key)
	i, _ := slices.BinarySearchFunc(r, token, func(o owned, token int64) int { return cmp.Compare(o.last, token) })
	return r[i%len(r)].lane
}

// Lane names the token's owner.
func (d *Driver) Lane(op *driver.Op) string {
	switch {
	case op.Document != nil:
		return d.ring.laneOf(documentKey(op.Document.Set, op.Document.ID))
	case op.Kind != driver.Batch:
		return d.ring.laneOf(op.ID)
	}
	lane := ""
	for _, id := range op.IDs {
		its := d.ring.laneOf(id)
		if lane != "" && its != lane {
			return laneOwners
		}
		lane = its
	}
	return lane
}

// tokenOf is the first half of MurmurHash3_x64_128 with the seed 0, as Cassandra's Murmur3Partitioner
// has it: bytes of the tail count as signed numbers, and the smallest number is not a token.
//
// Source: Cassandra's MurmurHash.hash3_x64_128 and Murmur3Partitioner.getToken.
func tokenOf(key string) int64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	var h1, h2 uint64
	data := []byte(key)
	for ; len(data) >= 16; data = data[16:] {
		k1, k2 := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		h1 ^= bits.RotateLeft64(k1*c1, 31) * c2
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= bits.RotateLeft64(k2*c2, 33) * c1
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var k1, k2 uint64
	for i, each := range data {
		signed := uint64(int64(int8(each))) << (8 * (i % 8))
		if i < 8 {
			k1 ^= signed
		} else {
			k2 ^= signed
		}
	}
	h1 ^= bits.RotateLeft64(k1*c1, 31) * c2
	h2 ^= bits.RotateLeft64(k2*c2, 33) * c1
	h1 ^= uint64(len(key))
	h2 ^= uint64(len(key))
	h1 += h2
	h2 += h1
	token := int64(mixed(h1) + mixed(h2))
	if token == -1<<63 {
		return 1<<63 - 1
	}
	return token
}

func mixed(n uint64) uint64 {
	n ^= n >> 33
	n *= 0xff51afd7ed558ccd
	n ^= n >> 33
	n *= 0xc4ceb9fe1a85ec53
	return n ^ n>>33
}
