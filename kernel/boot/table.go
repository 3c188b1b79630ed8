package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/leveret-os/leveret/kernel/machine"
)

// show prints both runs side by side, and what the kernel cost.
func show(out io.Writer, sum string, c machine.Config, here, there side, r machine.Result, err error) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	row := func(name string, a, b any) { fmt.Fprintf(w, "  %s\t%v\t%v\n", name, a, b) }
	row("", "this machine", "the kernel")
	row("program, sha256", sum[:16]+"…", sum[:16]+"…")
	if err != nil {
		row("end", fmt.Sprintf("status %d", here.status), err)
		w.Flush()
		return
	}
	row("status", here.status, there.status)
	for _, f := range facts(here.text, there.text) {
		row(f.name, f.here, f.there)
	}
	a, b := differences(here, there)
	lines := fmt.Sprintf("%d lines", strings.Count(here.text, "\n"))
	if a == b {
		row("output", lines, "the same")
	} else {
		row("output", lines, "DIFFERENT")
	}
	for _, guest := range slices.Sorted(maps.Keys(c.Get)) {
		if host, ok := c.Files[guest]; ok {
			n, diff := compareTrees(host, c.Get[guest])
			row("files in "+host, fmt.Sprintf("%d", n), diff)
		}
	}
	row("seconds", fmt.Sprintf("%.2f", here.wall.Seconds()), fmt.Sprintf("%.2f, with the boot %.2f", programSeconds(r), r.Wall.Seconds()))
	w.Flush()
	if a != b {
		fmt.Fprintf(out, "the first difference:\n  this machine: %s\n  the kernel:   %s\n", a, b)
	}
	cost(out, r)
}

// programSeconds is how long init ran, by the kernel's clock.
func programSeconds(r machine.Result) float64 {
	a, _ := machine.ParseAccount(r.Console)
	return float64(a.Time["elapsed"]) / 1e9
}

// cost prints the kernel's account in three lines.
func cost(out io.Writer, r machine.Result) {
	a, ok := machine.ParseAccount(r.Console)
	if !ok {
		return
	}
	var entry, core, forwarded, coreNS uint64
	names := slices.Sorted(maps.Keys(a.Calls))
	for _, c := range a.Calls {
		entry, core, forwarded = entry+c.Entry, core+c.Core, forwarded+c.Forwarded
		coreNS += c.NS
	}
	sort.SliceStable(names, func(i, j int) bool { return a.Calls[names[i]].All() > a.Calls[names[j]].All() })
	var most []string
	for _, name := range names[:min(5, len(names))] {
		most = append(most, fmt.Sprintf("%s %d", name, a.Calls[name].All()))
	}
	share := func(ns uint64) string {
		return fmt.Sprintf("%.1f %%", 100*float64(ns)/float64(max(a.Time["running"], 1)))
	}
	f := a.Faults
	fmt.Fprintln(out, "what the kernel cost:")
	fmt.Fprintf(out, "  page faults   %d: %d of 4 KiB pages (%d pages), %d of 2 MiB, %d copies\n", f["all"], f["small"], f["pages"], f["large"]+f["inplace"], f["copy"])
	fmt.Fprintf(out, "  system calls  %d: %d by core, %d by services (%s)\n", entry+core+forwarded, entry+core, forwarded, strings.Join(most, ", "))
	fmt.Fprintf(out, "  share of time %s in faults, %s in core's calls, %s in services', of %.2f s of processor time\n",
		share(a.Time["faults"]), share(coreNS), share(a.Time["forwarded"]), float64(a.Time["running"])/1e9)
}

type fact struct{ name, here, there string }

var endLine = regexp.MustCompile(`(?m)^AGENT steps=(\d+) tokens=(\d+) .*reason=(\S+)\r?\n?((?s).*)`)

// facts are what agent and infer say of their results, from both outputs.
func facts(here, there string) (list []fact) {
	a, b := figures(here), figures(there)
	for _, name := range []string{"steps", "tokens", "logits_sha256", "reason", "answer"} {
		if a[name] != "" || b[name] != "" {
			list = append(list, fact{name, a[name], b[name]})
		}
	}
	return list
}

func figures(text string) map[string]string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if m := endLine.FindStringSubmatch(text); m != nil {
		answer, _, _ := strings.Cut(m[4], "\nRESULT ")
		return map[string]string{"steps": m[1], "tokens": m[2], "reason": m[3], "answer": brief(strings.TrimSpace(answer))}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var end struct {
		Steps  int             `json:"steps"`
		Tokens json.RawMessage `json:"tokens"`
		Reason string          `json:"reason"`
		Answer *string         `json:"answer"`
		Logits []string        `json:"logits_sha256"`
		Text   string          `json:"text"`
	}
	if json.Unmarshal([]byte(lines[len(lines)-1]), &end) != nil {
		return nil
	}
	m := map[string]string{"tokens": brief(string(end.Tokens)), "reason": end.Reason}
	if end.Steps != 0 {
		m["steps"] = fmt.Sprint(end.Steps)
	}
	if end.Answer != nil {
		m["answer"] = brief(*end.Answer)
	}
	if n := len(end.Logits); n > 0 {
		m["logits_sha256"] = fmt.Sprintf("%d, the last %.12s…", n, end.Logits[n-1])
		m["answer"] = brief(end.Text)
	}
	return m
}

// brief is the beginning of a text, on one line.
func brief(s string) string {
	const most = 36
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
