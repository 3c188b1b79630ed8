// Package tasks makes the tasks that the embedded model is trained on and
// measured with: what a user says, the folder that it is about, the calls that
// do it, and a check of what came out.
package tasks
