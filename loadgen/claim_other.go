//go:build !linux

package main

func beNice() {}
