package runtime

import (
	"crypto/sha256"
	"net/netip"
)

// address returns a pod's address in 127.128.0.0/9: of this machine's loopback, on all of whose
// addresses a process may listen, the same whenever a pod of this name is made anew in this cluster.
func address(plane, namespace, name string) string {
	sum := sha256.Sum256([]byte(plane + "/" + namespace + "/" + name))
	return netip.AddrFrom4([4]byte{127, sum[0] | 128, sum[1], sum[2]%254 + 1}).String()
}
