//go:build amd64

package main

// In switch_amd64.s.

func fwdSwitch(p, newfs uint64) uint64
func replySwitch(p, newfs uint64)
func fpSave(p uint64) (full, fs uint64)
func fpLoad(p, newfs uint64)
