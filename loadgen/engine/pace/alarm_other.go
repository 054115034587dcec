//go:build !linux

package pace

// NewAlarm returns an alarm by the runtime.
func NewAlarm() Alarm { return NewTimer() }
