package main

import (
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on stderr while something long is done; nothing at all
// where stderr is no terminal.
type progress struct {
	console *console
	what    string
	bar     *progressbar.ProgressBar
	total   int64
}

func (c *console) progress(what string) *progress { return &progress{console: c, what: what} }

// bytes shows how far the work has come.
func (p *progress) bytes(item string, done, total int64) {
	p.show(item, done, total, progressbar.OptionShowBytes(true))
}

// count shows how many of a number of things are done.
func (p *progress) count(item string, done, total int) {
	p.show(item, int64(done), int64(total), progressbar.OptionShowCount())
}

func (p *progress) show(item string, done, total int64, unit progressbar.Option) {
	if p == nil || !terminal(p.console.stderr) {
		return
	}
	item = strings.TrimSpace(p.what + " " + oneLine(item))
	if p.bar == nil || p.total != total {
		p.clear()
		p.total = total
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.console.stderr),
			progressbar.OptionSetDescription(item),
			progressbar.OptionUseIECUnits(false),
			unit,
			progressbar.OptionSetWidth(24),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetRenderBlankState(true),
			progressbar.OptionClearOnFinish(),
		)
	}
	p.bar.Describe(item)
	p.bar.Set64(done)
}

// clear takes the bar off the screen.
func (p *progress) clear() {
	if p != nil && p.bar != nil {
		p.bar.Clear()
		p.bar = nil
	}
}
