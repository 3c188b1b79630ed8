// Package calls serves system calls: for each a function that takes its
// arguments from a Request, acts on the package vfs and its kin, and returns a
// value or a negative errno value. Table lists them; each file is one family.
//
// A handler owns a Call, and uses it for one request after the other: its
// buffers are the scratch memory of all functions, so that the common calls
// allocate nothing. No function blocks: where the call has to wait it says
// so by Call.wait, and is run again when there is something to do.
package calls
