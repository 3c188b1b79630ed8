// Package rules holds tests alone: the rules of the repository that no
// compiler checks. Each file is one rule; where a rule is a list, the list is
// at its top, and a change to it is a decision to be explained in the commit.
package rules
