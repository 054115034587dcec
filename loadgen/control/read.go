package control

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// longestLine bounds one command.
const longestLine = 16 << 20

// read parses the input in a goroutine of its own, so that the clock is
// answered at once, whatever else is going on.
func (s *Session) read(in io.Reader) <-chan command {
	commands := make(chan command, 64)
	go func() {
		defer close(commands)
		lines := bufio.NewScanner(in)
		lines.Buffer(make([]byte, 0, 1<<16), longestLine)
		for lines.Scan() {
			if len(lines.Bytes()) == 0 {
				continue
			}
			var c command
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				// The line itself may hold a secret.
				s.complain("protocol", fmt.Errorf("a command is not a line of JSON: %w", err))
				continue
			}
			if c.Cmd == "clock" {
				s.tell(c)
				continue
			}
			commands <- c
		}
	}()
	return commands
}

// tell answers what time it is on the schedule's clock.
func (s *Session) tell(c command) {
	now, started := s.now()
	answer := event{"id": c.ID, "t": nil}
	if started {
		answer["t"] = now.Seconds()
	}
	s.out.send(named("clock", answer))
}
