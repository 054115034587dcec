// Package s3 pins the S3 server that tests copy runs to: versitygw, a real one, in front of a
// folder. `make kubernetes` builds it from Go modules; nothing of it is part of brownout.
package s3
