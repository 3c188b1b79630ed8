package tools

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"testing"
)

// fakeDNS answers every question of type A with the next of its addresses; the
// last one again and again.
type fakeDNS struct {
	mu        sync.Mutex
	addresses [][]string // for each question
	asked     int
}

// count returns how many questions there were.
func (d *fakeDNS) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

// resolver starts the server and returns a resolver that asks nobody else.
func (d *fakeDNS) resolver(t testing.TB) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := d.reply(buf[:n]); reply != nil {
				conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// reply answers one question (RFC 1035, section 4).
func (d *fakeDNS) reply(query []byte) []byte {
	if len(query) < 12 {
		return nil
	}
	end := 12
	for end < len(query) && query[end] != 0 {
		end += int(query[end]) + 1
	}
	if end+5 > len(query) {
		return nil
	}
	kind := binary.BigEndian.Uint16(query[end+1:])
	var list []string
	d.mu.Lock()
	if kind == 1 {
		list = d.addresses[min(d.asked, len(d.addresses)-1)]
		d.asked++
	}
	d.mu.Unlock()
	reply := append([]byte{}, query[:end+5]...)
	binary.BigEndian.PutUint16(reply[2:], 0x8580) // an authoritative answer
	binary.BigEndian.PutUint16(reply[6:], uint16(len(list)))
	binary.BigEndian.PutUint32(reply[8:], 0)
	for _, a := range list {
		reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		reply = append(reply, netip.MustParseAddr(a).AsSlice()...)
	}
	return reply
}
