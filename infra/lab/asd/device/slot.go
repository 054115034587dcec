package device

import (
	"encoding/binary"
	"hash/crc32"

	"brownout/infra/lab/asd/record"
)

const (
	slotUnit   = 128
	slotHeader = 24
	slotMagic  = 0x42524f53

	slotFree byte = 0
	slotLive byte = 1

	stateAt = 6
)

// units returns how large a slot a flat record of that length needs.
func units(length int) int { return (slotHeader + length + slotUnit - 1) / slotUnit }

// encodeSlot returns the slot that holds a record, as long as it is on disk.
func encodeSlot(r *record.Record, epoch uint64) []byte {
	slot := r.Append(make([]byte, slotHeader, slotHeader+r.Size()+slotUnit))
	flat := slot[slotHeader:]
	n := units(len(flat))
	binary.BigEndian.PutUint32(slot, slotMagic)
	binary.BigEndian.PutUint16(slot[4:], uint16(n))
	slot[stateAt] = slotLive
	binary.BigEndian.PutUint64(slot[8:], epoch)
	binary.BigEndian.PutUint32(slot[16:], uint32(len(flat)))
	binary.BigEndian.PutUint32(slot[20:], crc32.ChecksumIEEE(flat))
	return append(slot, make([]byte, n*slotUnit-len(slot))...)
}

// slotHead is what the first bytes of a slot say.
type slotHead struct {
	units  int
	live   bool
	length int
	sum    uint32
}

// decodeHead reads a slot's first bytes; false where no slot of this epoch is.
func decodeHead(raw []byte, epoch uint64) (slotHead, bool) {
	head := slotHead{
		units:  int(binary.BigEndian.Uint16(raw[4:])),
		live:   raw[stateAt] == slotLive,
		length: int(binary.BigEndian.Uint32(raw[16:])),
		sum:    binary.BigEndian.Uint32(raw[20:]),
	}
	ok := binary.BigEndian.Uint32(raw) == slotMagic && binary.BigEndian.Uint64(raw[8:]) == epoch &&
		head.units > 0 && slotHeader+head.length <= head.units*slotUnit
	return head, ok
}

// decodeSlot returns the record in a whole slot; nil if it is free or was cut off half-way.
func decodeSlot(raw []byte, head slotHead) *record.Record {
	flat := raw[slotHeader : slotHeader+head.length]
	if !head.live || crc32.ChecksumIEEE(flat) != head.sum {
		return nil
	}
	r, err := record.Parse(flat)
	if err != nil {
		return nil
	}
	return r
}
