package hub

import (
	"fmt"
	"strconv"
	"strings"
)

// checkRange reads "bytes FIRST-LAST/TOTAL".
func checkRange(s string, first, total int64) error {
	rest, ok := strings.CutPrefix(s, "bytes ")
	span, size, ok2 := strings.Cut(rest, "/")
	from, _, ok3 := strings.Cut(span, "-")
	n, err := strconv.ParseInt(from, 10, 64)
	if !ok || !ok2 || !ok3 || err != nil || n != first {
		return fmt.Errorf("%w: Content-Range %q, expected from byte %d", ErrAnswer, s, first)
	}
	if size != "*" && size != strconv.FormatInt(total, 10) {
		return fmt.Errorf("%w: expected %d bytes, the server has %s", ErrSize, total, size)
	}
	return nil
}
