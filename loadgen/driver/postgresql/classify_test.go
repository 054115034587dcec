package postgresql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"brownout/loadgen/driver"
)

func TestEveryAnswerOfAServerIsFailedOrInDoubt(t *testing.T) {
	for _, c := range []struct {
		err   error
		said  bool
		class driver.Class
		cause driver.Cause
		retry bool
	}{
		{err: sqlState("25006"), class: driver.Failed, cause: driver.CauseNotPrimary, retry: true},
		{err: sqlState("57P01"), class: driver.Failed, cause: driver.CauseNoNode, retry: true},
		{err: sqlState("57P01"), said: true, class: driver.InDoubt, cause: driver.CauseNoNode, retry: true},
		{err: sqlState("57P02"), class: driver.InDoubt, cause: driver.CauseOther, retry: true},
		{err: sqlState("57P03"), class: driver.Failed, cause: driver.CauseNoNode, retry: true},
		{err: sqlState("57014"), class: driver.Failed, cause: driver.CauseServerTimeout, retry: true},
		{err: sqlState("40001"), class: driver.Failed, cause: driver.CauseKeyBusy, retry: true},
		{err: sqlState("40001"), said: true, class: driver.InDoubt, cause: driver.CauseKeyBusy, retry: true},
		{err: sqlState("40003"), class: driver.InDoubt, cause: driver.CauseOther, retry: true},
		{err: sqlState("08007"), class: driver.InDoubt, cause: driver.CauseOther, retry: true},
		{err: sqlState("23505"), class: driver.Failed, cause: driver.CauseKeyBusy},
		{err: sqlState("42501"), class: driver.Failed, cause: driver.CauseAuthTLS},
		{err: sqlState("53100"), class: driver.Failed, cause: driver.CauseStopWrites, retry: true},
		{err: sqlState("53300"), class: driver.Failed, cause: driver.CauseOverloaded, retry: true},
		{err: sqlState("XX000"), class: driver.InDoubt, cause: driver.CauseOther, retry: true},
		{err: sqlState("ZZ999"), class: driver.InDoubt, cause: driver.CauseOther, retry: true},
		{err: io.ErrUnexpectedEOF, class: driver.InDoubt, cause: driver.CauseConnectionReset, retry: true},
		{err: fmt.Errorf("read: %w", syscall.ECONNRESET), class: driver.InDoubt, cause: driver.CauseConnectionReset, retry: true},
		{err: context.DeadlineExceeded, class: driver.InDoubt, cause: driver.CauseReadTimeout, retry: true},
		{err: context.Canceled, class: driver.InDoubt, cause: driver.CauseTotalTimeout, retry: true},
		{err: errors.New("an unknown error"), class: driver.InDoubt, cause: driver.CauseOther, retry: true},
		{err: pgconn.ErrConnClosed, class: driver.InDoubt, cause: driver.CauseConnectionReset, retry: true},
		{err: unsaid{}, class: driver.Failed, cause: driver.CauseNoNode, retry: true},
	} {
		t.Run(fmt.Sprintf("%v after it was said: %v", c.err, c.said), func(t *testing.T) {
			got := classify(c.err, driver.Update, c.said)
			if got.Class != c.class || got.Cause != c.cause || got.Retryable != c.retry || got.Attempts != 1 {
				t.Errorf("got %+v", got)
			}
			if _, is := c.err.(unsaid); got.Sent == is {
				t.Errorf("sent: %v", got.Sent)
			}
			if got := classify(c.err, driver.Read, c.said); got.Class != driver.Failed {
				t.Errorf("a read: %+v", got)
			}
			if got := classify(c.err, driver.Increment, c.said); got.Class == driver.InDoubt && got.Retryable {
				t.Errorf("an increment in doubt may be repeated: %+v", got)
			}
			if !got.Cause.Known() {
				t.Errorf("%q is not a cause", got.Cause)
			}
		})
	}
	if got := classify(nil, driver.Update, false); got.Class != driver.OK {
		t.Errorf("no error: %+v", got)
	}
}

func sqlState(code string) error { return &pgconn.PgError{Severity: "ERROR", Code: code, Message: "m"} }

// unsaid is an error from before anything was sent.
type unsaid struct{}

func (unsaid) Error() string     { return "unsaid" }
func (unsaid) SafeToRetry() bool { return true }
