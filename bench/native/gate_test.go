package native

import (
	"context"
	"errors"
	"testing"
	"time"
)

// world is a machine that a gate looks at: each reading of /proc/stat takes the
// next noise.
type world struct {
	clock time.Time
	busy  int64
	// processors that others keep busy, by the second; the last goes on
	load []float64
	spin time.Duration
}

func (w *world) pass(d time.Duration) {
	for end := w.clock.Add(d); w.clock.Before(end); w.clock = w.clock.Add(10 * time.Millisecond) {
		i := min(int(w.clock.Sub(time.Unix(0, 0)).Seconds()), len(w.load)-1)
		w.busy += int64(w.load[i])
	}
}

func (w *world) gate(patience time.Duration) *gate {
	w.clock = time.Unix(0, 0)
	g := &gate{limits: limits{0.1, 1.15}, patience: patience, loops: 1, best: time.Millisecond}
	g.now = func() time.Time { return w.clock }
	g.stat = func() (jiffies, error) { return jiffies{w.busy}, nil }
	g.sleep = func(ctx context.Context, d time.Duration) error { w.pass(d); return ctx.Err() }
	g.spin = func(int) time.Duration { return max(w.spin, time.Millisecond) }
	return g
}

func TestGateWaits(t *testing.T) {
	w := &world{load: []float64{1, 1, 1, 0}}
	n, err := w.gate(time.Minute).wait(t.Context())
	if now := w.clock.Sub(time.Unix(0, 0)); err != nil || n.Before != 0 || now < 3*time.Second || now > 4*time.Second {
		t.Errorf("%v after %v (%v), want quiet after 3 s", n, now, err)
	}
}

func TestGateLosesPatience(t *testing.T) {
	w := &world{load: []float64{2}}
	n, err := w.gate(5 * time.Second).wait(t.Context())
	if now := w.clock.Sub(time.Unix(0, 0)); err != nil || n.Before < 1.9 || now < 5*time.Second || now > 6*time.Second {
		t.Errorf("%v after %v (%v), want 2 busy processors after 5 s", n, now, err)
	}
}

func TestGateSeesSlowProcessor(t *testing.T) {
	w := &world{load: []float64{0}, spin: 2 * time.Millisecond}
	g := w.gate(0)
	n, err := g.wait(t.Context())
	if err != nil || n.Spin != 2 || !g.limits.reached(n) {
		t.Errorf("%v (%v), want a spin of 2", n, err)
	}
	w.spin = 500 * time.Microsecond
	g.best = 4 * time.Millisecond
	if n, _ := g.wait(t.Context()); n.Spin != 1 || g.best != time.Millisecond {
		t.Errorf("%v, best %v: a faster spin is the new best", n, g.best)
	}
}

func TestWatch(t *testing.T) {
	ctx := t.Context()
	second := func(w *world, calls *int, own time.Duration, err error) func() watched {
		return func() watched { *calls++; w.pass(time.Second); return watched{own, err} }
	}
	calls := 0
	w := &world{load: []float64{0}}
	n, tries, err := w.gate(0).watch(ctx, 3, second(w, &calls, 0, nil))
	if err != nil || calls != 1 || tries != 1 || n.During != 0 {
		t.Errorf("quiet: %d calls, %v (%v)", calls, n, err)
	}

	// Our own work is no noise, that of others is.
	calls, w = 0, &world{load: []float64{1}}
	if n, _, _ = w.gate(0).watch(ctx, 1, second(w, &calls, time.Second, nil)); n.During != 0 {
		t.Errorf("own work counts as noise: %v", n)
	}
	calls, w = 0, &world{load: []float64{0, 1, 0, 0}}
	g := w.gate(0)
	n, tries, err = g.watch(ctx, 3, second(w, &calls, 0, nil))
	if err != nil || tries != 3 && tries != 2 || calls != tries || g.limits.reached(n) {
		t.Errorf("a short disturbance: %d tries, %v (%v), want a second or third quiet one", tries, n, err)
	}

	calls, w = 0, &world{load: []float64{1}}
	g = w.gate(0)
	if n, tries, err = g.watch(ctx, 3, second(w, &calls, 0, nil)); err != nil || tries != 3 || calls != 3 || !g.limits.reached(n) {
		t.Errorf("a long one: %d tries, %v (%v), want 3 and the noise", tries, n, err)
	}

	broken := errors.New("broken")
	calls = 0
	if _, _, err = g.watch(ctx, 3, second(w, &calls, 0, broken)); !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%d calls, error %v: a failure is not tried again", calls, err)
	}

	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, _, err := g.watch(stopped, 3, second(w, &calls, 0, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
