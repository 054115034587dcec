package driver

import (
	"fmt"
	"strconv"
)

// DataID is the stored key of number key of the plain data set.
func DataID(key uint64) string {
	buffer := make([]byte, 0, 12)
	buffer = append(buffer, 'k')
	for limit := uint64(1_000_000_000); limit > 1 && key < limit; limit /= 10 {
		buffer = append(buffer, '0')
	}
	return string(strconv.AppendUint(buffer, key, 10))
}

// InsertID is the stored key of the n-th insert of a stream.
func InsertID(stream int, n uint64) string {
	buffer := make([]byte, 0, 24)
	buffer = append(buffer, 'i')
	buffer = strconv.AppendInt(buffer, int64(stream), 10)
	buffer = append(buffer, '-')
	return string(strconv.AppendUint(buffer, n, 10))
}

// LedgerID is the stored key of a verified register or counter.
func LedgerID(stream string, counter bool, key uint64) string {
	kind := "r"
	if counter {
		kind = "c"
	}
	return fmt.Sprintf("%s:%s%08d", stream, kind, key)
}

// The places of a namespace: tables, collections, or what keys begin with.
const (
	PlaceData   = "data"
	PlaceLedger = "ledger"
	PlaceMeta   = "meta" // of the marker
)

// MarkerID is the key of the marker, ClaimID that of the claim of a run.
const (
	MarkerID = "brownout"
	ClaimID  = "claim"
)

// Places are those of a namespace, in the order in which they are removed.
func Places() []string {
	return append([]string{PlaceData, PlaceLedger}, append(DocumentSets(), PlaceMeta)...)
}

// Keys is a namespace in a database that has nothing but keys: all begin with its name.
type Keys string

// Of is the beginning of all keys of one place.
func (k Keys) Of(place string) string { return string(k) + "/" + place + "/" }

// Key is where the record of an operation lies.
func (k Keys) Key(verified bool, id string) string {
	if verified {
		return k.Of(PlaceLedger) + id
	}
	return k.Of(PlaceData) + id
}

// Document is where a document lies.
func (k Keys) Document(set string, id any) string {
	return k.Of(set) + fmt.Sprint(id)
}

// Marker is where the marker lies.
func (k Keys) Marker() string { return k.Of(PlaceMeta) + MarkerID }

// Claim is where the claim of a run lies.
func (k Keys) Claim() string { return k.Of(PlaceMeta) + ClaimID }
