// Package tools has tools for agents (pkg/agent): files in a folder that
// nothing gets out of, exact arithmetic, and pages of hosts on a list.
//
// Their errors are written for a model to read, and hold no path of the host.
package tools
