package driver

import "context"

// ReadsCopies is a driver that can ask each server for what it has stored itself, whatever the
// others have.
type ReadsCopies interface {
	// Copies returns each server that has copies of what the load wrote, for reading from it alone.
	// One that copies with a delay on purpose is left out. There is none if the servers do not tell.
	Copies(ctx context.Context) ([]Copy, error)
}

// Copy is what one server has stored.
type Copy interface {
	// Server is its address.
	Server() string
	// Read reads keys as ReadBack does, and reports those of which the server has to have a copy. An
	// error stands for all the ids that were not reported.
	Read(ctx context.Context, verified bool, ids []string, counter bool, each func(ReadBack)) error
	Close()
}
