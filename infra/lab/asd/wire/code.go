package wire

// Code is the result of one operation, as clients know it.
type Code byte

// The codes that this server gives.
const (
	OK                Code = 0
	ServerError       Code = 1
	NotFound          Code = 2
	WrongGeneration   Code = 3
	BadParameter      Code = 4
	RecordExists      Code = 5
	OutOfSpace        Code = 8
	Timeout           Code = 9
	Unavailable       Code = 11
	WrongType         Code = 12
	RecordTooBig      Code = 13
	KeyBusy           Code = 14
	Unsupported       Code = 16
	NoNamespace       Code = 20
	BadBinName        Code = 21
	Forbidden         Code = 22
	FilteredOut       Code = 27
	SecurityUnsupport Code = 51
)

// Bits of the three bytes of flags that every request has.
const (
	Info1Read       byte = 1 << 0
	Info1AllBins    byte = 1 << 1
	Info1Batch      byte = 1 << 3
	Info1NoBins     byte = 1 << 5
	Info1ReadAll    byte = 1 << 6 // consult every copy that may be newer
	Info2Write      byte = 1 << 0
	Info2Delete     byte = 1 << 1
	Info2Generation byte = 1 << 2
	Info2NewerGen   byte = 1 << 3
	Info2CreateOnly byte = 1 << 5
	Info2AllResults byte = 1 << 7
	Info3Last       byte = 1 << 0
	Info3MasterOnly byte = 1 << 1 // answer before the copies have it
	Info3UpdateOnly byte = 1 << 3
	Info3Replace    byte = 1 << 4
	Info3ReplaceOld byte = 1 << 5
)

// What an operation does to a bin.
const (
	OpRead    byte = 1
	OpWrite   byte = 2
	OpAdd     byte = 5
	OpAppend  byte = 9
	OpPrepend byte = 10
	OpTouch   byte = 11
	OpDelete  byte = 14
)

// Types of a bin's value.
const (
	TypeNull    byte = 0
	TypeInteger byte = 1
	TypeFloat   byte = 2
	TypeString  byte = 3
	TypeBytes   byte = 4
)
