package native

import (
	"context"
	"fmt"
	"time"
)

const (
	listen   = 200 * time.Millisecond // to /proc/stat, before each sample
	spinTime = 20 * time.Millisecond  // of the calibrated spin
)

// noise is what disturbed a sample.
type noise struct {
	Before float64 `json:"before"` // processors that others kept busy just before
	During float64 `json:"during"` // and while it ran
	Spin   float64 `json:"spin"`   // time of the calibrated spin before, over its best
}

// limits say which noise is too much.
type limits struct {
	busy float64 // processors
	spin float64 // ratio
}

func (l limits) reached(n noise) bool {
	return n.Before > l.busy || n.During > l.busy || n.Spin > l.spin
}

// A gate lets a sample begin when the machine is quiet.
type gate struct {
	limits   limits
	patience time.Duration // to wait for quiet before one sample
	loops    int           // of the spin
	best     time.Duration // that the spin ever took

	// For tests.
	stat  func() (jiffies, error)
	spin  func(loops int) time.Duration
	sleep func(context.Context, time.Duration) error
	now   func() time.Time
}

func newGate(l limits, patience time.Duration) *gate {
	g := &gate{
		limits: l, patience: patience, stat: readStat, now: time.Now,
		spin: func(loops int) time.Duration { d, _ := spin(loops); return d },
		sleep: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		},
	}
	g.calibrate()
	return g
}

// calibrate finds how much work takes spinTime, and how fast that can be.
func (g *gate) calibrate() {
	g.loops = 1 << 20
	for g.spin(g.loops) < spinTime/2 && g.loops < 1<<40 {
		g.loops *= 2
	}
	g.best = g.spin(g.loops)
	for range 10 {
		g.best = min(g.best, g.spin(g.loops))
	}
}

// listen tells the noise at the moment.
func (g *gate) listen(ctx context.Context) (noise, error) {
	before, err := g.stat()
	if err != nil {
		return noise{}, err
	}
	start := g.now()
	if err := g.sleep(ctx, listen); err != nil {
		return noise{}, err
	}
	after, err := g.stat()
	if err != nil {
		return noise{}, err
	}
	n := noise{Before: others(before, after, 0, g.now().Sub(start))}
	took := g.spin(g.loops)
	g.best = min(g.best, took)
	n.Spin = float64(took) / float64(g.best)
	return n, nil
}

// wait returns when the machine is quiet, or patience has run out, with the
// noise at that moment.
func (g *gate) wait(ctx context.Context) (noise, error) {
	start := g.now()
	for {
		n, err := g.listen(ctx)
		if err != nil || !g.limits.reached(n) || g.now().Sub(start) >= g.patience {
			return n, err
		}
	}
}

// watched is what a watched function says about itself.
type watched struct {
	own time.Duration // processor time that it and its children took
	err error
}

// watch waits for quiet and runs f, again while it was disturbed, at most tries
// times in all. It returns the noise of the last run and how many there were.
// An error of f ends it: the sample is not going to get better.
func (g *gate) watch(ctx context.Context, tries int, f func() watched) (n noise, done int, err error) {
	for done = 1; ; done++ {
		n, err = g.wait(ctx)
		if err != nil {
			return n, done, err
		}
		before, err := g.stat()
		if err != nil {
			return n, done, err
		}
		start := g.now()
		w := f()
		wall := g.now().Sub(start)
		after, err := g.stat()
		if err != nil {
			return n, done, err
		}
		n.During = others(before, after, w.own, wall)
		if w.err != nil || done >= tries || !g.limits.reached(n) {
			return n, done, w.err
		}
	}
}

func (n noise) String() string {
	return fmt.Sprintf("others %.2f before, %.2f during, spin %.2f", n.Before, n.During, n.Spin)
}
