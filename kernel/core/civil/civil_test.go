package civil

import (
	"testing"
	"time"
)

func TestUnix(t *testing.T) {
	for at := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2430; at = at.Add(17*time.Hour + 31*time.Minute + 7*time.Second) {
		got := Unix(uint64(at.Year()), uint64(at.Month()), uint64(at.Day()), uint64(at.Hour()), uint64(at.Minute()), uint64(at.Second()))
		if got != uint64(at.Unix()) {
			t.Fatalf("%v: %d, want %d", at, got, at.Unix())
		}
	}
	if got := Unix(2026, 13, 1, 0, 0, 0); got != 0 {
		t.Errorf("month 13: %d", got)
	}
}
