package driver

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAnAbsentServiceIsToldByItsReasonThoughTheLastTryWasCutOff(t *testing.T) {
	tries := 0
	err := Service{
		Patience: 50 * time.Millisecond, Pause: time.Millisecond,
		Absent: "no server answers", Hint: "is it up?",
		Try: func(ctx context.Context) (bool, error) {
			if tries++; tries == 1 {
				return false, errors.New("connection refused")
			}
			<-ctx.Done()
			return false, ctx.Err()
		},
	}.Await(context.Background())
	if err == nil || !strings.Contains(err.Error(), "connection refused") || tries != 2 {
		t.Errorf("got %v after %d tries", err, tries)
	}
}
