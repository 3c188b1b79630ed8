//go:build amd64

package main

const (
	bNone = iota
	bFutex
	bSleep
	bEpoll
	bRecv
	bSend
	bServed
)

var (
	runHead, runTail *Thread
	timers           *Thread
	allT             *Thread
	nextTid          uint64  = 1
	handlers         *Thread // idle service handlers
	sendHead         *Thread // users waiting for a handler
	sendTail         *Thread
	fixLo, fixHi     uint64
	fixPad           uint64
	servicesSpace    *AddressSpace
	nswitch, nkick   uint64
	nfault, nfwd     uint64
	nfull            uint64
	nhandlers        uint64
)
