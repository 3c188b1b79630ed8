package tools

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"strings"
	"testing"
)

// Random expressions have the values that Python's fractions give them.
func TestAgainstPython(t *testing.T) {
	data, err := os.ReadFile("testdata/compute.json")
	must(t, err)
	var cases [][2]string
	must(t, json.Unmarshal(data, &cases))
	if len(cases) < 500 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		v, err := evaluate(context.Background(), c[0])
		if c[1] == "division by zero" {
			if !errors.Is(err, ErrDomain) {
				t.Errorf("%s: %v, expected a division by zero", c[0], err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
		} else if v.RatString() != c[1] {
			t.Errorf("%s = %s, want %s", c[0], v.RatString(), c[1])
		}
	}
}

func TestCompute(t *testing.T) {
	for expression, want := range map[string]string{
		"1+1":               "2",
		" 7 / 2 ":           "3.5",
		"0.1 + 0.2":         "0.3",
		"2**64":             "18446744073709551616",
		"2^10":              "1024",
		"-2**2":             "-4",
		"(-2)**2":           "4",
		"2**3**2":           "512",
		"2**-3":             "0.125",
		"2**-1**2":          "0.5",
		"--3":               "3",
		"7 % 3":             "1",
		"-7 % 3":            "2",
		"7 % -3":            "-2",
		"7.5 % 2":           "1.5",
		"-7 // 2":           "-4",
		"1 / 3":             "0.33333333333333333333 (rounded; exactly 1/3)",
		"-200 / 3":          "-66.666666666666666667 (rounded; exactly -200/3)",
		"1 / 300":           "0.0033333333333333333333 (rounded; exactly 1/300)",
		"10 / 4 * 2":        "5",
		"898965 * 2":        "1797930",
		"1e3":               "1000",
		"1.5e-3":            "0.0015",
		".5 + 5.":           "5.5",
		"3 × 4 − 2 ÷ 1 · 1": "10",
		"123456789012345678901234567890 * 987654321098765432109876543210": "121932631137021795226185032733622923332237463801111263526900",
		"factorial(20)":              "2432902008176640000",
		"factorial(0)":               "1",
		"gcd(12, 18, 27)":            "3",
		"lcm(4, 6, 10)":              "60",
		"lcm(0, 5)":                  "0",
		"abs(-3.5)":                  "3.5",
		"floor(-3.5)":                "-4",
		"ceil(-3.5)":                 "-3",
		"round(2.5)":                 "3",
		"round(-2.5)":                "-3",
		"round(3.14159, 2)":          "3.14",
		"round(1/3, 5)":              "0.33333",
		"sqrt(144)":                  "12",
		"sqrt(2.25)":                 "1.5",
		"min(3, 1, 2)":               "1",
		"max(3, 1, 2) + 1":           "4",
		"0**0":                       "1",
		"(-1)**1000000000001":        "-1",
		"(-1)**1000000000000":        "1",
		"1**99999999999999999999999": "1",
		"0 * -1":                     "0",
	} {
		got, err := call(t, Compute(), map[string]any{"expression": expression})
		if err != nil || got != want {
			t.Errorf("%s: %v, %s, want %s", expression, err, got, want)
		}
	}
}

func TestComputeRefuses(t *testing.T) {
	for expression, want := range map[string]error{
		"":                        ErrExpression,
		" ":                       ErrExpression,
		"1 +":                     ErrExpression,
		"* 2":                     ErrExpression,
		"(1":                      ErrExpression,
		"1)":                      ErrExpression,
		"1 2":                     ErrExpression,
		"1,234":                   ErrExpression,
		"1..2":                    ErrExpression,
		".":                       ErrExpression,
		"2x":                      ErrExpression,
		"x":                       ErrExpression,
		"0x10":                    ErrExpression,
		"1_000":                   ErrExpression,
		"1e":                      ErrExpression,
		"abs":                     ErrExpression,
		"abs()":                   ErrExpression,
		"abs(1,2)":                ErrExpression,
		"round(1,2,3)":            ErrExpression,
		"__import__('os')":        ErrExpression,
		"1; 2":                    ErrExpression,
		"١+١":                     ErrExpression, // digits of another script
		"\xff":                    ErrExpression,
		"1/0":                     ErrDomain,
		"1//0":                    ErrDomain,
		"1%0":                     ErrDomain,
		"0**-1":                   ErrDomain,
		"2**0.5":                  ErrDomain,
		"sqrt(2)":                 ErrDomain,
		"sqrt(-1)":                ErrDomain,
		"factorial(-1)":           ErrDomain,
		"factorial(2.5)":          ErrDomain,
		"factorial(3001)":         ErrDomain,
		"gcd(1.5, 2)":             ErrDomain,
		"round(1, 10**9)":         ErrDomain,
		"9**9**9":                 ErrTooLarge,
		"9**9**9**9**9":           ErrTooLarge,
		"-9**-9**9":               ErrTooLarge,
		"1e999999999":             ErrTooLarge,
		"1e-999999999":            ErrTooLarge,
		"1e99999999999999999999":  ErrTooLarge,
		"(1/3)**99999":            ErrTooLarge,
		"10**20000":               ErrTooLarge,
		"10**5000 * 10**5000":     ErrTooLarge,
		"factorial(3000)**2":      ErrTooLarge,
		strings.Repeat("9", 5000): ErrTooLarge,
		strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300):    ErrTooLarge,
		strings.Repeat("-", 4000) + "1":                              ErrTooLarge,
		strings.Repeat("2**", 1000) + "1":                            ErrTooLarge,
		strings.Repeat("abs(", 300) + "1" + strings.Repeat(")", 300): ErrTooLarge,
	} {
		got, err := call(t, Compute(), map[string]any{"expression": expression})
		if !errors.Is(err, want) {
			t.Errorf("%.50s: %v, %.50s, want %v", expression, err, got, want)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%.50s: an error of %d bytes", expression, len(err.Error()))
		}
	}
}

// The costliest expressions that the bounds allow are computed, and a cancelled
// one is not.
func TestComputeIsBounded(t *testing.T) {
	for _, expression := range []string{
		strings.Repeat("factorial(2900)-", 250) + "1",
		"(" + strings.Repeat("1/7+", 1000) + "1)",
		strings.Repeat("(3**5000/7**4000)*", 1) + strings.Repeat("1.000001*", 400) + "1",
		strings.Repeat("3**9000%", 500) + "7",
	} {
		if _, err := evaluate(context.Background(), expression); err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%.40s…: %v", expression, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Compute().Call(ctx, json.RawMessage(`{"expression":"1+1"}`))
	is(t, err, context.Canceled)
}

// FuzzCompute checks that any expression is computed or refused for a stated
// cause, that values are bounded, and that a value, written out, is itself.
func FuzzCompute(f *testing.F) {
	for _, seed := range []string{"1+2*3", "-(2**-3)%.5", "round(1/3,2)", "9**9**9", "1e1000", "((((", "gcd(1,2)", "×÷−", "1//0", "max(1,,2)", "2^2^2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		v, err := evaluate(context.Background(), expression)
		if err != nil {
			if !errors.Is(err, ErrExpression) && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrDomain) {
				t.Errorf("%q: %v", expression, err)
			}
			return
		}
		if err := bounded(v); err != nil {
			t.Fatalf("%q: a number of %d bits", expression, v.Num().BitLen()+v.Denom().BitLen())
		}
		text := format(v)
		if strings.Contains(text, "rounded") {
			shown, _, _ := strings.Cut(text, " ")
			r, ok := new(big.Rat).SetString(shown)
			if !ok {
				t.Fatalf("%q: %s", expression, text)
			}
			error := r.Sub(r, v)
			error.Quo(error, v)
			if error.Abs(error).Cmp(big.NewRat(1, 1e15)) > 0 {
				t.Errorf("%q: %s is not %s", expression, text, v)
			}
			return
		}
		if r, ok := new(big.Rat).SetString(text); !ok || r.Cmp(v) != 0 {
			t.Errorf("%q: %s is not %s", expression, text, v)
		}
	})
}
