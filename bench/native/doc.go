// Package native measures Leveret and other inference engines on the machine
// that it runs on: the same weights, the same prompts, in turns, and not while
// something else keeps the machine busy.
//
// The engines are programs that speak one protocol (protocol.go): ours is this
// binary itself, through pkg/llama, and cmd/infer for what begins with the start
// of a process; the others are the small programs in peers, which are embedded.
//
//	engines.go          who takes part, in which forms
//	plan.go             which samples, in which order, and how long they take
//	gate.go, noise.go   when a sample may begin, and whether it was disturbed
//	sample.go, store.go the raw rows, one JSON object a line, to resume from
//	python.go, model.go what has to be there before: packages, converted weights
//	protocol.go, run.go, ours.go, worker.go   one sample
//	emulated.go                               one of ours under QEMU
//	tokens.go, stats.go, checks.go            what follows from the samples
//	table.go, csv.go, plot.go                 how it is shown
package native
