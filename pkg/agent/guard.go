package agent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// grace is what a function gets after its time to notice that it is over.
const grace = 200 * time.Millisecond

// guard runs code of others: a panic becomes an error, and what does not
// return within limit, or soon after ctx ends, is left behind.
func guard[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: fmt.Errorf("%w: it ended its goroutine", ErrPanic)} // runtime.Goexit
		defer func() {
			if p := recover(); p != nil {
				o.err = fmt.Errorf("%w: %s", ErrPanic, panicText(p))
			}
			done <- o
		}()
		value, err := f(limited)
		o = outcome{value, err}
	}()
	wait := func() (o outcome, ok bool) {
		select {
		case o = <-done:
			return o, true
		case <-limited.Done():
		}
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case o = <-done:
			return o, true
		case <-timer.C:
			return o, false
		}
	}
	o, ok := wait()
	switch {
	case ctx.Err() != nil && (!ok || o.err != nil):
		return o.value, ctx.Err()
	case !ok:
		return o.value, fmt.Errorf("%w: more than %v", ErrTimeout, limit)
	case o.err != nil && limited.Err() != nil && errors.Is(o.err, context.DeadlineExceeded):
		return o.value, fmt.Errorf("%w: more than %v", ErrTimeout, limit)
	}
	return o.value, o.err
}

// panicText writes the value of a panic, whose own String or Error may panic.
func panicText(p any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("a %T", p)
		}
	}()
	switch p := p.(type) {
	case error:
		text = p.Error()
	case fmt.Stringer:
		text = p.String()
	default:
		text = fmt.Sprint(p)
	}
	if len(text) > 500 {
		text = text[:500]
	}
	return text
}
