// Package kernels compares what kernels cost one and the same program: the
// static binary of bench/workload in one initramfs, on one emulated machine,
// where only the kernel differs.
//
// Runs are interleaved: a round boots each kernel once, in shuffled order, and
// ratios are taken within a round. Wall clock and guest instructions (QEMU's
// -icount) are measured apart: the first is what a user waits for, the second
// repeats within half a percent whatever the host does.
package kernels
