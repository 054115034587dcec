package wire

import "encoding/binary"

// Append writes the request of one record as a client would, to hand it on to another node.
func (r *Request) Append(dst []byte) []byte {
	dst = append(dst, messageHeader, r.Info1, r.Info2, r.Info3, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, r.Generation)
	dst = binary.BigEndian.AppendUint32(dst, r.TTL)
	dst = binary.BigEndian.AppendUint32(dst, r.TimeoutMs)
	counted := len(dst)
	dst = binary.BigEndian.AppendUint16(dst, 0)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(r.Ops)))
	fields := uint16(0)
	for _, f := range []struct {
		kind  byte
		value []byte
	}{
		{fieldNamespace, []byte(r.Namespace)},
		{fieldSet, []byte(r.Set)},
		{fieldDigest, r.Digest},
		{fieldKey, r.Key},
		{fieldFilter, r.Filter},
	} {
		if len(f.value) > 0 {
			dst = binary.BigEndian.AppendUint32(dst, uint32(len(f.value)+1))
			dst = append(append(dst, f.kind), f.value...)
			fields++
		}
	}
	binary.BigEndian.PutUint16(dst[counted:], fields)
	for _, op := range r.Ops {
		dst = op.append(dst)
	}
	return dst
}
