package wire

import "encoding/binary"

// Answer is what a client gets for one record.
type Answer struct {
	Code       Code
	Generation uint32
	VoidTime   uint32
	Ops        []Op
	// Index says which part of a batch it answers; Last ends the batch.
	Index uint32
	Last  bool
}

// Append writes the answer's message, without a frame, to the end of dst.
func (a Answer) Append(dst []byte) []byte {
	var info3 byte
	if a.Last {
		info3 = Info3Last
	}
	dst = append(dst, messageHeader, 0, 0, info3, 0, byte(a.Code))
	dst = binary.BigEndian.AppendUint32(dst, a.Generation)
	dst = binary.BigEndian.AppendUint32(dst, a.VoidTime)
	dst = binary.BigEndian.AppendUint32(dst, a.Index)
	dst = binary.BigEndian.AppendUint16(dst, 0) // no fields
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(a.Ops)))
	for _, op := range a.Ops {
		dst = op.append(dst)
	}
	return dst
}

// Frame returns the answer in a frame of its own.
func (a Answer) Frame() Frame { return Frame{Kind: FrameMessage, Body: a.Append(nil)} }

func (op Op) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(4+len(op.Bin)+len(op.Value)))
	dst = append(dst, op.Kind, op.Type, 0, byte(len(op.Bin)))
	return append(append(dst, op.Bin...), op.Value...)
}

// ParseAnswer reads the answer to one record's request, as Append wrote it.
func ParseAnswer(body []byte) (Answer, error) {
	if len(body) < messageHeader {
		return Answer{}, errCut
	}
	a := Answer{
		Code:       Code(body[5]),
		Generation: binary.BigEndian.Uint32(body[6:]),
		VoidTime:   binary.BigEndian.Uint32(body[10:]),
	}
	r := &Request{}
	if !r.readOps(&reader{body[messageHeader:]}, int(binary.BigEndian.Uint16(body[20:]))) {
		return Answer{}, errCut
	}
	a.Ops = r.Ops
	return a, nil
}
