// Package vfs is the tree of files: inodes, directory entries, path walking
// as namei(7) of Linux has it, permissions, mounts, open files. It holds
// directories, symbolic links and the attributes of everything in Go's
// memory; the contents of a regular file are a memory object, and a Node
// gives an inode other behaviour (devices, /proc, /sys).
//
// Lock order, outermost first:
//
//	Namespace.mu          names, entries, mounts, link counts of directories
//	  Inode.mu            attributes of one inode
//	    File.mu           the position and flags of an open file
//	Inode.locks.mu        flock and fcntl locks of one inode; taken alone
//
// No lock is held while user memory is touched, but File.mu and what an
// object takes itself.
//
// Errors are Linux's errno values, 0 for success: handlers hand them on as
// they are, and an integer allocates nothing.
package vfs
