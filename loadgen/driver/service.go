package driver

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// Service is how a driver that opens waits for its cluster.
type Service struct {
	Patience, Pause time.Duration
	Absent          string // what is said if there is none in time: "no member serves"
	Hint            string // and what may be the reason
	// Try tells why there is none yet, and whether that is a login or a TLS connection which the
	// cluster refuses: then there is no use in waiting.
	Try func(context.Context) (refused bool, err error)
}

// Await tries until there is a service, or none can be expected.
func (s Service) Await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	var reason error // of the last try that was not cut off, which only knows that time is up
	for begun := time.Now(); ; {
		refused, err := s.Try(ctx)
		if err == nil {
			return nil
		}
		if refused {
			return fmt.Errorf("the cluster refuses the login or the TLS connection: %w; "+
				"see `auth` and `tls` of the inventory's `connection`", err)
		}
		if reason == nil || ctx.Err() == nil {
			reason = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s within %v: %w; %s", s.Absent, time.Since(begun).Round(100*time.Millisecond), reason, s.Hint)
		case <-time.After(s.Pause):
		}
	}
}

// ModuleVersion is that of a module in this program, behind its name.
func ModuleVersion(name string) string {
	if build, known := debug.ReadBuildInfo(); known {
		for _, module := range build.Deps {
			if module.Path == name {
				return name + " " + module.Version
			}
		}
	}
	return name + " of unknown version"
}
