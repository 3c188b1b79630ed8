package machine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAccount(t *testing.T) {
	console := "ACCT pid=1 faults all=999\r\nlies\r\n" +
		"ACCT pid=1 faults all=7 small=5 pages=30\r\nACCT pid=1 call getpid,getppid entry=4\r\n" +
		"ACCT pid=1 call read core=3 forwarded=2 ns=1500\r\nACCT pid=1 time elapsed=100 running=90 faults=8 forwarded=9\r\n" +
		"ACCT memory frames=100 free=50\r\nEXIT status=0\r\n"
	want := Account{
		Faults: map[string]uint64{"all": 7, "small": 5, "pages": 30},
		Calls:  map[string]Calls{"getpid,getppid": {Entry: 4}, "read": {Core: 3, Forwarded: 2, NS: 1500}},
		Time:   map[string]uint64{"elapsed": 100, "running": 90, "faults": 8, "forwarded": 9},
		Memory: map[string]uint64{"frames": 100, "free": 50},
	}
	got, ok := ParseAccount([]byte(console))
	if !ok || cmp.Diff(want, got) != "" {
		t.Errorf("%v %s", ok, cmp.Diff(want, got))
	}
	if _, ok := ParseAccount([]byte("Leveret: boot OK\r\n")); ok {
		t.Error("an account of a quiet machine")
	}
}
