package main

import "syscall"

// beNice leaves the processors to the load that is measured.
func beNice() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) }
