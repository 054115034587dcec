package control

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// longestLine bounds one command.
const longestLine = 16 << 20

// read parses the input in a goroutine of its own, so that a greeting, the clock
// and the metrics are answered at once, whatever else is running.
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
			switch c.Cmd {
			case "hello":
				s.greet()
			case "clock":
				s.tell(c)
			case "metrics":
				s.show(c)
			default:
				commands <- c
			}
		}
	}()
	return commands
}

// tell answers what time it is on the schedule's clock, and how long the process is there.
func (s *Session) tell(c command) {
	now, started := s.now()
	answer := event{"id": c.ID, "t": nil, "up": time.Since(s.born).Seconds()}
	if started {
		answer["t"] = now.Seconds()
	}
	s.out.send(named("clock", answer))
}

// show answers with the metrics in Prometheus's text format; null before there
// is a load.
func (s *Session) show(c command) {
	answer := event{"id": c.ID, "text": nil}
	if page := s.page.Load(); page != nil {
		text, err := page.Text()
		if err != nil {
			s.complain(c.Cmd, err)
			return
		}
		answer["text"] = text
	}
	s.out.send(named("metrics", answer))
}
