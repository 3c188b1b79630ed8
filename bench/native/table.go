package native

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// cell shows a spread: the median, and the range where there is one.
func cell(s spread, digits int) string {
	if s.N == 0 {
		return "—"
	}
	text := fmt.Sprintf("%.*f", digits, s.Median)
	if s.N > 1 {
		text += fmt.Sprintf(" (%.*f–%.*f)", digits, s.Least, digits, s.Most)
	}
	return text
}

// rows writes a Markdown table.
func rows(w io.Writer, head []string, body [][]string) {
	line := func(cells []string) {
		for i, c := range cells {
			cells[i] = strings.NewReplacer("\n", " ", "|", `\|`).Replace(c)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
	line(head)
	line(slices.Repeat([]string{"---"}, len(head)))
	for _, r := range body {
		line(r)
	}
	fmt.Fprintln(w)
}

// writeTable writes everything that follows from the samples: what does not
// hold, where others are ahead, and only then the rest.
func writeTable(w io.Writer, h header, samples []sample) error {
	b := &strings.Builder{}
	all := results(samples)
	board := newBoard(all)
	fmt.Fprintf(b, "# Leveret against other inference engines, natively\n\n")
	fmt.Fprintf(b, "Made by `go run ./bench native`; [docs/bench.md](../../../docs/bench.md) says how. SmolLM2-135M-Instruct, the same weights for all, greedy, one sequence. %s: %s, Linux %s, %s; revision %s; begun %s. Each figure is the median of repeated samples, with their range.\n\n",
		plural(h.Count, "processor"), h.Processor, h.Kernel, h.Go, h.Revision, h.Began.UTC().Format("2006-01-02 15:04 MST"))
	if h.Quick {
		fmt.Fprintf(b, "**A quick run: it shows that the rig works. Its figures mean nothing.**\n\n")
	}
	noiseSection(b, all)
	checkSections(b, board)
	measureSections(b, board)
	tokenSection(b, all)
	absentSection(b, all)
	machineSection(b, all)
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

func noiseSection(b *strings.Builder, all []*result) {
	samples, noisy := 0, 0
	for _, r := range all {
		samples += r.Samples
		noisy += r.Noisy
	}
	fmt.Fprintf(b, "%d samples; %d of them were disturbed by other processes or the host in every try, and are kept: rows with such samples are marked ~.\n\n", samples, noisy)
}

// checkSections writes the goals, those that do not hold first, and where
// others are ahead.
func checkSections(b *strings.Builder, board *board) {
	list := board.checks()
	section := func(title, verdict string) {
		var body [][]string
		for _, c := range list {
			if c.verdict() == verdict {
				body = append(body, []string{c.Topic, c.Claim, fmt.Sprint(c.Threads), c.Against, cell(c.Got, 2), c.goal()})
			}
		}
		if len(body) == 0 && verdict != fails {
			return
		}
		fmt.Fprintf(b, "## %s\n\n", title)
		if len(body) == 0 {
			fmt.Fprintf(b, "Nothing of what was measured.\n\n")
			return
		}
		rows(b, []string{"", "ours", "threads", "against", "ratio", "goal"}, body)
	}
	section("What does not hold", fails)
	lossSection(b, board)
	section("What holds", holds)
	section("Figures without a goal", published)
	section("Not measured", notMeasured)
}

func lossSection(b *strings.Builder, board *board) {
	fmt.Fprintf(b, "## Where another engine is ahead\n\nOf our best form and mode of the same class that keeps the tokens; the worst first.\n\n")
	losses := board.losses()
	if len(losses) == 0 {
		fmt.Fprintf(b, "Nowhere in what was measured.\n\n")
		return
	}
	var body [][]string
	for _, l := range losses {
		theirs := l.theirs.name()
		if !l.theirs.Agreement.Keeps {
			theirs += " (tokens: " + keepsMark(l.theirs.Agreement) + ")"
		}
		m := l.measure
		body = append(body, []string{
			m.title + ", " + m.unit, string(l.class), fmt.Sprint(l.ours.Threads), theirs,
			cell(l.theirs.spread(m.key).Scaled(m.scale), m.digits), l.ours.name(),
			cell(l.ours.spread(m.key).Scaled(m.scale), m.digits), fmt.Sprintf("%.2f", l.ratio),
		})
	}
	rows(b, []string{"", "class", "threads", "engine", "its", "ours", "our", "times better"}, body)
}

// measureSections writes a table for each measure.
func measureSections(b *strings.Builder, board *board) {
	fmt.Fprintf(b, "## All figures\n\n")
	for _, m := range measures {
		var body [][]string
		seen := map[string]bool{}
		for _, r := range board.all {
			if r.Engine == machine || seen[r.name()] {
				continue
			}
			seen[r.name()] = true
			row := []string{r.name(), string(r.Class), keepsMark(r.Agreement)}
			any, noisy := false, false
			for _, t := range board.threads {
				c := r.config
				c.Threads = t
				x := board.of(c)
				s := x.spread(m.key).Scaled(m.scale)
				any, noisy = any || s.N > 0, noisy || x.Noisy > 0
				row = append(row, cell(s, m.digits))
			}
			if noisy {
				row[0] += " ~"
			}
			if any {
				body = append(body, row)
			}
		}
		if len(body) == 0 {
			continue
		}
		fmt.Fprintf(b, "### %s, %s\n\n", m.title, m.unit)
		head := []string{"engine, form", "class", "tokens"}
		for _, t := range board.threads {
			head = append(head, plural(t, "thread"))
		}
		rows(b, head, body)
	}
}

func keepsMark(a agreement) string {
	switch {
	case !a.Known:
		return "unknown"
	case a.Keeps:
		return "kept"
	case a.Plain:
		return "plain only"
	case a.First:
		return "the first"
	}
	return "lost"
}

// tokenSection writes how far tokens agree, once for each engine and form.
func tokenSection(b *strings.Builder, all []*result) {
	fmt.Fprintf(b, "## Tokens\n\nAgainst %s: %d after a plain prompt, %d after a conversation. A form keeps the tokens if the first %d after each are equal, or all to the end of the text where an engine suppresses its end; *plain only* are those that keep the ones after the plain prompt, *the first* those that keep the first of them, which is the answer.\n\n",
		reference.What, len(reference.Plain.Tokens), len(reference.Chat.Tokens), keepTokens)
	var body [][]string
	seen := map[string]bool{}
	for _, r := range all {
		row := []string{r.name(), keepsMark(r.Agreement), r.Agreement.Words}
		key := strings.Join(row, "\x00")
		if r.Engine == machine || r.Agreement.Words == "" || seen[key] {
			continue
		}
		seen[key] = true
		body = append(body, row)
	}
	rows(b, []string{"engine, form", "tokens", ""}, body)
}

// absentSection names what could not be measured, and why.
func absentSection(b *strings.Builder, all []*result) {
	var body [][]string
	for _, r := range all {
		for _, e := range r.Errors {
			row := []string{r.config.String(), e}
			if r.Samples > 0 {
				row[1] += fmt.Sprintf(" (%d samples without)", r.Samples)
			}
			body = append(body, row)
		}
	}
	if len(body) == 0 {
		return
	}
	fmt.Fprintf(b, "## What could not be had\n\n")
	rows(b, []string{"engine, form", "reason"}, body)
}

// machineSection writes the machine's own limits and the engines' versions.
func machineSection(b *strings.Builder, all []*result) {
	fmt.Fprintf(b, "## The machine and the engines\n\n")
	var body [][]string
	for _, r := range all {
		if r.Engine == machine && r.Samples > 0 {
			body = append(body, []string{
				fmt.Sprint(r.Threads), cell(r.spread(keyFMA).Scaled(1e-9), 0),
				cell(r.spread(keyReadHuge).Scaled(1e-9), 1), cell(r.spread(keyReadSmall).Scaled(1e-9), 1),
			})
		}
	}
	rows(b, []string{"threads", "f32 multiply-adds, GFLOP/s", "plain reads, 2 MiB pages, GB/s", "plain reads, 4 KiB pages, GB/s"}, body)
	body = nil
	seen := map[string]bool{}
	for _, r := range all {
		row := []string{r.Engine, r.Version}
		if key := r.Engine + r.Version; r.Version != "" && !seen[key] {
			seen[key] = true
			body = append(body, row)
		}
	}
	rows(b, []string{"engine", "version"}, body)
}
