package redis

import (
	"strings"

	"brownout/loadgen/driver"
)

// verdict is what a server's error means for a write.
type verdict struct {
	cause driver.Cause
	doubt bool // the write may have taken effect
	final bool // the same operation would fail again
}

// known sorts the server's errors by their first word. All of these are said before a command, or
// the script around it, has written anything. An error that is not here is in doubt, because only
// knowledge makes a failure certain.
//
// Source: the server's processCommand, getNodeByQuery (cluster.c) and scriptPrepareForRun, 7.0 to 8.2.
var known = map[string]verdict{
	"ASK":         {cause: driver.CauseNotPrimary},
	"MOVED":       {cause: driver.CauseNotPrimary},
	"READONLY":    {cause: driver.CauseNotPrimary},
	"TRYAGAIN":    {cause: driver.CauseNotPrimary}, // its slot is on its way to another node
	"CLUSTERDOWN": {cause: driver.CauseQuorumUnavailable},
	"NOREPLICAS":  {cause: driver.CauseQuorumUnavailable}, // fewer than min-replicas-to-write
	"LOADING":     {cause: driver.CauseNoNode},
	"MASTERDOWN":  {cause: driver.CauseNoNode},
	"BUSY":        {cause: driver.CauseOverloaded}, // with another client's script
	"MISCONF":     {cause: driver.CauseStopWrites}, // it cannot write to its disk
	"OOM":         {cause: driver.CauseStopWrites},
	"CROSSSLOT":   {cause: driver.CauseOther, final: true},
	"WRONGTYPE":   {cause: driver.CauseIntegrity, final: true},
	"DENIED":      {cause: driver.CauseAuthTLS, final: true}, // protected mode
	"NOAUTH":      {cause: driver.CauseAuthTLS, final: true},
	"NOPERM":      {cause: driver.CauseAuthTLS, final: true},
	"WRONGPASS":   {cause: driver.CauseAuthTLS, final: true},
}

// sentences are those errors without a word of their own that are known.
var sentences = map[string]verdict{
	"ERR max number of clients":        {cause: driver.CauseOverloaded},
	"ERR value is not an integer":      {cause: driver.CauseIntegrity, final: true},
	"ERR hash value is not an integer": {cause: driver.CauseIntegrity, final: true, doubt: true}, // others of the script are written
}

// meaning looks an error of the server up, and returns its code.
func meaning(said string) (verdict, string) {
	for sentence, v := range sentences {
		if strings.HasPrefix(said, sentence) {
			return v, sentence
		}
	}
	code, _, _ := strings.Cut(said, " ")
	if v, is := known[code]; is {
		return v, code
	}
	if code != strings.ToUpper(code) || len(code) > 20 {
		code = "?"
	}
	return verdict{cause: driver.CauseOther, doubt: true}, code
}
