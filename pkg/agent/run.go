package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// A Step is one call in a run, with its result.
type Step struct {
	// N counts steps from 1.
	N int
	// Call is what the model called. A call that did not end within
	// Options.CallTokens was brought to an end and is not made: Err says so. Name
	// is empty where the model wrote no call: Wrote has what it wrote instead.
	Call  Call
	Wrote string
	// Result is what the model was shown: the tool's result, cut, or an error
	// with what was wrong, or both with a notice that the call is a repetition.
	// It is empty for a call of done and for one that was not made.
	Result string
	// Err is why the call failed; nil for a call that went well.
	Err error
	// Dropped is how many calls, the oldest ones, were left out of the prompt
	// because the context is limited.
	Dropped int
	// Prompt is the number of tokens of the prompt, Tokens that of the tokens
	// that the model wrote, Forced how many of those nothing else was legal than.
	Prompt, Tokens, Forced int
	// ModelTime and ToolTime are how long the model wrote and the tool ran.
	ModelTime, ToolTime time.Duration
	// End is why the run ended, on the last step, and Answer what the model
	// answered, if that was Done.
	End    Reason
	Answer string
}

// Run gives the model a task and yields each step when its result is there.
// The last step has an End; its error is nil if and only if that is Done. The
// error of any other end wraps the sentinel that is beside the Reason. A step
// with an error may have a call all the same: one that was not made any more,
// or the last of those that were allowed.
//
// A run in progress makes other runs of the same agent wait.
func (a *Agent) Run(ctx context.Context, task string) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		select {
		case a.busy <- struct{}{}:
			defer func() { <-a.busy }()
		case <-ctx.Done():
			yield(Step{N: 1, End: Cancelled}, ctx.Err())
			return
		}
		if a.closed {
			yield(Step{N: 1, End: Failed}, ErrClosed)
			return
		}
		r := &run{agent: a, caller: a.caller, history: history{task: task}}
		if !a.opts.NoSystem {
			r.history.system = a.opts.System
		}
		for n := 1; ; n++ {
			s, err := r.step(ctx, n)
			if err == nil && s.End == "" && n == a.opts.MaxSteps {
				err = end(StepLimit, "%w: %d", ErrStepLimit, n)
			}
			if err != nil {
				if e := new(ended); !errors.As(err, &e) {
					reason := Failed
					if ctx.Err() != nil {
						reason = Cancelled
					}
					err = &ended{reason, err}
				}
				s.End = ReasonOf(err)
			}
			if !yield(s, err) || s.End != "" {
				return
			}
		}
	}
}

// A run is the state of one run.
type run struct {
	agent    *Agent
	caller   Caller
	history  history
	repeats  repeats
	failures int // in a row
	limit    int // tokens of a call
}

// step lets the model make one call. An error ends the run.
func (r *run) step(ctx context.Context, n int) (Step, error) {
	s := Step{N: n}
	if err := ctx.Err(); err != nil {
		return s, err
	}
	prompt, err := r.prompt()
	s.Prompt, s.Dropped = len(prompt), r.history.dropped
	if err != nil {
		return s, err
	}
	start := time.Now()
	r.limit = min(r.agent.opts.CallTokens, r.caller.Context()-len(prompt))
	w, err := r.caller.Call(ctx, prompt, r.limit)
	s.ModelTime, s.Tokens, s.Forced = time.Since(start), w.Tokens, w.Forced
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		s.Wrote = w.Text
		return s, err
	}
	return r.answer(ctx, s, w)
}

// prompt encodes the conversation, without its oldest turns where it would
// leave no room for a call.
func (r *run) prompt() ([]int, error) {
	for {
		prompt, err := r.caller.Prompt(r.history.messages())
		if err != nil {
			return nil, err
		}
		context, reserved := r.caller.Context(), r.agent.opts.CallTokens
		if len(prompt)+reserved <= context {
			return prompt, nil
		}
		if !r.history.drop() {
			return prompt, end(ContextFull, "%w: %d tokens of prompt and %d for a call exceed %d", ErrContextFull, len(prompt), reserved, context)
		}
	}
}

// answer makes the call that the model wrote and adds both to the history.
func (r *run) answer(ctx context.Context, s Step, w Written) (Step, error) {
	var key string
	call, err := parseCall(w.Text)
	if err != nil {
		s.Wrote, key = w.Text, w.Text
	} else {
		s.Call, key = call, call.key()
	}
	if w.Cut {
		err = fmt.Errorf("%w: the call did not end within %d tokens and was not made; make a shorter one", ErrArguments, r.limit)
	}
	count := r.repeats.add(key)
	if count >= r.agent.opts.MaxRepeats {
		return s, end(RepeatedCall, "%w: %d times %.200s", ErrRepeatedCall, count, key)
	}
	if err == nil {
		err = r.perform(ctx, &s)
	}
	if ctx.Err() != nil && s.End == "" {
		return s, ctx.Err()
	}
	if err != nil {
		s.Err = err
		if s.Result, err = r.show(ctx, Result{Text: failure(err)}); err != nil {
			return s, err
		}
	}
	if s.End != "" {
		return s, nil
	}
	if count == r.agent.opts.MaxRepeats-1 {
		s.Result += "\n[notice: the same call was just made, with the same result to be expected; make another call, or call done]"
	}
	if s.Call.Name != "" {
		r.history.add(s.N, s.Call, s.Result)
	} else {
		r.history.addMalformed(s.Wrote, s.Result)
	}
	if s.Err == nil {
		r.failures = 0
	} else if r.failures++; r.failures >= r.agent.opts.MaxFailures {
		return s, end(ToolFailures, "%w: %d in a row; the last: %w", ErrToolFailures, r.failures, s.Err)
	}
	return s, nil
}

// perform validates a call and runs its tool, or ends the run. An error is one
// for the model to see.
func (r *run) perform(ctx context.Context, s *Step) error {
	tool, ok := r.agent.tools[s.Call.Name]
	if !ok {
		return fmt.Errorf("%w: there is no tool %.100q", ErrArguments, s.Call.Name)
	}
	limit := r.agent.opts.CallTimeout
	// A stranger's schema can make validation slow, so it is guarded as well.
	_, err := guard(ctx, limit, func(context.Context) (struct{}, error) {
		return struct{}{}, tool.valid.check(s.Call.Arguments)
	})
	if err != nil {
		return err
	}
	if tool.tool == nil {
		var args struct{ Answer string }
		if err := json.Unmarshal(s.Call.Arguments, &args); err != nil {
			return fmt.Errorf("%w: %w", ErrArguments, err)
		}
		s.Answer, s.End = args.Answer, Done
		return nil
	}
	start := time.Now()
	result, err := guard(ctx, limit, func(ctx context.Context) (Result, error) {
		// A copy: what was validated is what was called, whatever the tool does.
		return tool.tool.Call(ctx, append(json.RawMessage(nil), s.Call.Arguments...))
	})
	s.ToolTime = time.Since(start)
	if err != nil {
		return err
	}
	s.Result, err = r.show(ctx, result)
	return err
}
