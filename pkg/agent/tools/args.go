package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/leveret-os/leveret/pkg/agent"
)

// decode reads arguments into a struct. An agent has validated them already;
// this is for whoever calls a tool without one.
func decode(args json.RawMessage, into any) error {
	if err := json.Unmarshal(args, into); err != nil {
		return fmt.Errorf("%w: %s", agent.ErrArguments, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// integer is a JSON number that is whole and at least 0, however it is spelled:
// JSON Schema takes 1.0 and 1e3 for integers, encoding/json does not.
type integer int64

func (n *integer) UnmarshalJSON(data []byte) error {
	s := string(data)
	if v, err := strconv.ParseInt(s, 10, 64); err == nil && v >= 0 {
		*n = integer(v)
		return nil
	}
	bad := errors.New("expected a whole number of at least 0")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if e, err := strconv.Atoi(exponent); len(mantissa) > 100 || exponent != "" && (err != nil || e < -100 || e > 100) {
		return bad
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || !r.IsInt() || !r.Num().IsInt64() || r.Sign() < 0 {
		return bad
	}
	*n = integer(r.Num().Int64())
	return nil
}
