package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// flags are the flags of one command: those of package flag (so "-x v", "-x=v",
// "--x v" and "--x=v" all are right), with several names each, an order, and
// arguments that may stand before flags.
type flags struct {
	set     *flag.FlagSet
	options []*option
}

// option is one flag for the help.
type option struct {
	names []string // "m", "model"
	value string   // what its value is, "" for a switch
	text  string
}

// errHelp means that -h or --help was given.
var errHelp = errors.New("help asked for")

func newFlags(cmd *command) *flags {
	f := &flags{set: flag.NewFlagSet(cmd.name, flag.ContinueOnError)}
	f.set.SetOutput(io.Discard)
	f.set.Usage = func() {}
	return f
}

// parse parses all flags and returns the arguments between and after them. What
// follows "--" is no flag.
func (f *flags) parse(args []string) (rest []string, err error) {
	for {
		if err := f.set.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, errHelp
			}
			return nil, usagef("%s", strings.ReplaceAll(err.Error(), "flag provided but not defined", "unknown flag"))
		}
		left := f.set.Args()
		if len(left) == 0 {
			return rest, nil
		}
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(rest, left...), nil
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// given reports whether a flag was set, by any of its names.
func (f *flags) given(name string) bool {
	for _, o := range f.options {
		for _, n := range o.names {
			if n != name {
				continue
			}
			for _, n := range o.names {
				found := false
				f.set.Visit(func(fl *flag.Flag) { found = found || fl.Name == n })
				if found {
					return true
				}
			}
		}
	}
	return false
}

// variable declares a flag. names are separated by commas, the usual one first.
func (f *flags) variable(v flag.Value, names, value, text string) {
	o := &option{names: strings.Split(names, ","), value: value, text: text}
	for _, n := range o.names {
		f.set.Var(v, n, text)
	}
	f.options = append(f.options, o)
}

func (f *flags) string(p *string, names, value, text string) {
	f.variable((*stringValue)(p), names, value, text)
}

func (f *flags) bool(p *bool, names, text string) {
	f.variable((*boolValue)(p), names, "", text)
}

func (f *flags) int(p *int, names, text string) {
	f.variable((*intValue)(p), names, "N", text)
}

func (f *flags) float(p *float64, names, text string) {
	f.variable((*floatValue)(p), names, "X", text)
}

func (f *flags) duration(p *time.Duration, names, text string) {
	f.variable((*durationValue)(p), names, "TIME", text)
}

func (f *flags) list(p *[]string, names, value, text string) {
	f.variable((*listValue)(p), names, value, text)
}

// numbers declares a flag that takes numbers separated by commas.
func (f *flags) numbers(p *[]int, names, text string) {
	f.variable((*numbersValue)(p), names, "N,N…", text)
}

type stringValue string

func (v *stringValue) Set(s string) error { *v = stringValue(s); return nil }
func (v *stringValue) String() string     { return string(*v) }

type boolValue bool

func (v *boolValue) IsBoolFlag() bool { return true }
func (v *boolValue) String() string   { return strconv.FormatBool(bool(*v)) }
func (v *boolValue) Set(s string) error {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return errors.New("expected true or false")
	}
	*v = boolValue(b)
	return nil
}

type intValue int

func (v *intValue) String() string { return strconv.Itoa(int(*v)) }
func (v *intValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return errors.New("expected a whole number")
	}
	*v = intValue(n)
	return nil
}

type floatValue float64

func (v *floatValue) String() string { return strconv.FormatFloat(float64(*v), 'g', -1, 64) }
func (v *floatValue) Set(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x != x {
		return errors.New("expected a number")
	}
	*v = floatValue(x)
	return nil
}

type durationValue time.Duration

func (v *durationValue) String() string { return time.Duration(*v).String() }
func (v *durationValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return errors.New("expected a time such as 30s or 2m")
	}
	*v = durationValue(d)
	return nil
}

// listValue gathers the values of a flag that may be repeated.
type listValue []string

func (v *listValue) String() string     { return strings.Join(*v, " ") }
func (v *listValue) Set(s string) error { *v = append(*v, s); return nil }

type numbersValue []int

func (v *numbersValue) String() string { return strings.Trim(fmt.Sprint([]int(*v)), "[]") }
func (v *numbersValue) Set(s string) error {
	var list []int
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return errors.New("expected whole numbers separated by commas")
		}
		list = append(list, n)
	}
	*v = list
	return nil
}
