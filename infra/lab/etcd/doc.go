// Package etcd pins the server of labs of etcd: a real one. `make setup` builds it from Go
// modules; nothing of it is part of brownout.
package etcd
