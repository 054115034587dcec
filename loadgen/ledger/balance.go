package ledger

// Balance holds against each other what has to be equal, as one line of ledger.ndjson: of
// votes the total, the sum of the choices, and the voters' records.
type Balance struct {
	Check   string `json:"check"` // votes
	Stream  string `json:"stream"`
	Total   Side   `json:"total"`
	Choices Side   `json:"choices"`
	Records Side   `json:"records"`
}

// Side is what was found on one side of the balance, and what was promised of it.
type Side struct {
	Found   int64  `json:"found"`
	Acked   uint64 `json:"acked"`
	InDoubt uint64 `json:"in_doubt"`
}

// Add counts a line and what was found of it.
func (s *Side) Add(line *Line, found int64) {
	s.Found += found
	s.Acked += line.AckedN
	s.InDoubt += line.InDoubtN
}
