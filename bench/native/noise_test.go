package native

import (
	"errors"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	j, err := parseStat([]byte("cpu  10 2 3 1000 50 4 5 6 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"))
	if err != nil || j.busy != 10+2+3+4+5+6 {
		t.Errorf("busy %d (%v), want all but idle and iowait, guests not twice", j.busy, err)
	}
	for _, bad := range []string{"", "cpu0 1 2 3 4 5 6 7 8\n", "cpu 1 2 3\n"} {
		if _, err := parseStat([]byte(bad)); !errors.Is(err, errStat) {
			t.Errorf("%q: error %v", bad, err)
		}
	}
	for _, bad := range []string{"cpu 1 2 x 4 5 6 7 8\n", "cpu 1 2 -3 4 5 6 7 8\n"} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestOthers(t *testing.T) {
	for _, c := range []struct {
		busy      int64
		own, wall time.Duration
		want      float64
	}{
		{200, 2 * time.Second, time.Second, 0},
		{200, time.Second, time.Second, 1},
		{100, 1100 * time.Millisecond, time.Second, 0}, // jiffies are coarse
		{50, 0, 2 * time.Second, 0.25},
		{50, 0, 0, 0},
	} {
		if got := others(jiffies{1000}, jiffies{1000 + c.busy}, c.own, c.wall); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestSpinIsWork(t *testing.T) {
	_, few := spin(10)
	_, more := spin(11)
	if few == more || few == 1 {
		t.Errorf("results %d and %d: the loop may be left out", few, more)
	}
}
