// Command jinjalibs measures the Jinja libraries that could render chat
// templates: how many of the vectors of pkg/llama/testdata/chat (made with
// Python's jinja2) each renders as jinja2 does, and what each does with
// templates that are made to take for ever. docs/design.md quotes its table.
//
// usage: go run . FOLDER     (pkg/llama/testdata/chat)
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ardanlabs/jinja"
	"github.com/nikolalohinski/gonja/v2"
	gexec "github.com/nikolalohinski/gonja/v2/exec"
)

// now is the date of the vectors.
var now = time.Date(2024, 7, 26, 12, 0, 0, 0, time.UTC)

var libraries = map[string]func(source string, data json.RawMessage, tokens json.RawMessage) (string, error){
	"ardanlabs/jinja v1.8.0": ardan,
	"gonja v2.9.1":           gonjaRender,
}

// hostile templates render in no time or should be refused: each doubles or
// multiplies until something gives.
var hostile = []struct{ name, source string }{
	{"long loop", `{% for i in range(10**12) %}x{% endfor %}`},
	{"nested loops", `{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}`},
	{"doubling text", `{% set ns = namespace(x='xxxxxxxxxxxxxxxx') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x|length }}`},
	{"repeated text", `{{ ('x' * 99999999) * 99999 }}`},
	{"endless macro", `{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}`},
}

func main() {
	if len(os.Args) == 4 { // a child that renders one hostile template
		_, err := libraries[os.Args[2]](os.Args[3], json.RawMessage(`{}`), json.RawMessage(`{}`))
		fmt.Print(err)
		return
	}
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: jinjalibs FOLDER")
		os.Exit(2)
	}
	data, err := os.ReadFile(filepath.Join(os.Args[1], "vectors.json"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var vectors struct {
		Cases []struct {
			Template     string
			Data, Tokens json.RawMessage
			Text         *string
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for name, render := range libraries {
		same, differs, failed, accepted := 0, 0, 0, 0
		for _, c := range vectors.Cases {
			source, err := os.ReadFile(filepath.Join(os.Args[1], c.Template))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			got, err := guarded(render, string(source), c.Data, c.Tokens)
			switch {
			case c.Text == nil && err != nil, c.Text != nil && err == nil && got == *c.Text:
				same++
			case c.Text == nil:
				accepted++
			case err != nil:
				failed++
			default:
				differs++
			}
		}
		fmt.Printf("%s: %d of %d as jinja2; %d other text, %d refused, %d that jinja2 refuses\n", name, same, len(vectors.Cases), differs, failed, accepted)
		for _, h := range hostile {
			fmt.Printf("  %-14s %s\n", h.name, attack(name, h.source))
		}
	}
}

// guarded turns a library's panic into an error.
func guarded(render func(string, json.RawMessage, json.RawMessage) (string, error), source string, data, tokens json.RawMessage) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return render(source, data, tokens)
}

// attack renders in a child with 2 GB of address space and 10 seconds.
func attack(library, source string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 4000000; exec "$0" child "$@"`, os.Args[0], library, source)
	cmd.WaitDelay = time.Second
	start := time.Now()
	out, err := cmd.Output()
	took := time.Since(start).Round(10 * time.Millisecond)
	switch {
	case ctx.Err() != nil:
		return "runs on after 10 s"
	case err != nil:
		return fmt.Sprintf("ends the program (%v) after %v", err, took)
	}
	return fmt.Sprintf("%.80s after %v", out, took)
}

func ardan(source string, raw, tokens json.RawMessage) (string, error) {
	t, err := jinja.Compile(source)
	if err != nil {
		return "", err
	}
	data := map[string]jinja.Value{"strftime_now": jinja.NewCallable("strftime_now", func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
		return jinja.NewString(now.Format("02 Jan 2006")), nil
	})}
	for _, part := range []json.RawMessage{tokens, raw} {
		d := json.NewDecoder(bytes.NewReader(part))
		d.UseNumber()
		dict := ardanValue(d).AsDict()
		for _, k := range dict.OrderedKeys() {
			data[k], _ = dict.Get(k)
		}
	}
	return t.RenderValues(data)
}

// ardanValue keeps the order of members, which a Go map would not.
func ardanValue(d *json.Decoder) jinja.Value {
	token, err := d.Token()
	if err != nil {
		panic(err)
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '[' {
			var list []jinja.Value
			for d.More() {
				list = append(list, ardanValue(d))
			}
			d.Token()
			return jinja.NewList(list)
		}
		dict := jinja.NewDict()
		for d.More() {
			k, _ := d.Token()
			dict.AsDict().Set(k.(string), ardanValue(d))
		}
		d.Token()
		return dict
	case string:
		return jinja.NewString(v)
	case bool:
		return jinja.NewBool(v)
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return jinja.NewInt(i)
		}
		f, _ := v.Float64()
		return jinja.NewFloat(f)
	}
	return jinja.None()
}

func gonjaRender(source string, raw, tokens json.RawMessage) (string, error) {
	gonja.DefaultConfig.TrimBlocks, gonja.DefaultConfig.LeftStripBlocks = true, true
	t, err := gonja.FromString(source)
	if err != nil {
		return "", err
	}
	data := map[string]any{}
	for _, part := range []json.RawMessage{tokens, raw} {
		if err := json.Unmarshal(part, &data); err != nil {
			return "", err
		}
	}
	data["strftime_now"] = func(string) string { return now.Format("02 Jan 2006") }
	data["raise_exception"] = func(m string) (string, error) { return "", fmt.Errorf("raised: %s", m) }
	return t.ExecuteToString(gexec.NewContext(data))
}
