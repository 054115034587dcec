package wire

// What a batch says before each of its parts about how that part is written.
const (
	batchRepeat     byte = 0x01 // as the part before, but for its digest
	batchInfo       byte = 0x02
	batchGeneration byte = 0x04
	batchTTL        byte = 0x08
	batchInfo4      byte = 0x10
)

// Part is one record's share of a batch; Index is the client's own number of it.
type Part struct {
	Index   uint32
	Request *Request
}

// ParseBatch reads the parts of a batch. A part may repeat all but the digest of the one before.
func ParseBatch(batch *Request) ([]Part, error) {
	in := &reader{batch.Batch}
	n, ok := in.uint32()
	if _, flags := in.byte(); !ok || !flags {
		return nil, errCut
	}
	parts := make([]Part, 0, min(int(n), len(batch.Batch)/(digestSize+5)))
	var last *Request
	for range n {
		part, ok := readPart(in, batch, last)
		if !ok {
			return nil, errCut
		}
		parts, last = append(parts, part), part.Request
	}
	return parts, nil
}

func readPart(in *reader, batch, last *Request) (Part, bool) {
	index, ok := in.uint32()
	digest, found := in.bytes(digestSize)
	how, told := in.byte()
	if !ok || !found || !told {
		return Part{}, false
	}
	if how&batchRepeat != 0 {
		if last == nil {
			return Part{}, false
		}
		again := *last
		again.Digest = digest
		return Part{index, &again}, true
	}
	r := &Request{TimeoutMs: batch.TimeoutMs, Filter: batch.Filter}
	if !r.readPartHeader(in, how) {
		return Part{}, false
	}
	r.Digest = digest
	return Part{index, r}, true
}

func (r *Request) readPartHeader(in *reader, how byte) bool {
	var ok1, ok2, ok3 bool
	if r.Info1, ok1 = in.byte(); !ok1 {
		return false
	}
	if how&batchInfo != 0 {
		r.Info2, ok2 = in.byte()
		r.Info3, ok3 = in.byte()
		if !ok2 || !ok3 {
			return false
		}
	}
	if how&batchInfo4 != 0 {
		in.byte()
	}
	if how&batchGeneration != 0 {
		generation, _ := in.uint16()
		r.Generation = uint32(generation)
	}
	if how&batchTTL != 0 {
		r.TTL, _ = in.uint32()
	}
	fields, ok1 := in.uint16()
	ops, ok2 := in.uint16()
	return ok1 && ok2 && r.readFields(in, max(int(fields), 1)) && r.readOps(in, int(ops))
}
