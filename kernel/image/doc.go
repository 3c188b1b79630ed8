// Package image makes what a machine boots: it turns core, as the stock
// toolchain links it, into a kernel image that is entered by PVH (Kernel), and
// packs an initramfs (Archive).
//
// Core's Go runtime is linked but never started, so Kernel also proves that
// core does not need it: every function of core's packages is checked for
// calls that would allocate, grow a stack or use a runtime that is not there,
// the runtime's entry points for such things are replaced by a jump to core's
// crash report, and loads of g from thread-local storage are removed, since FS
// belongs to user programs.
package image
