//go:build amd64

package main

// With nmi=threads on the command line an NMI, which QEMU's monitor sends by
// its command nmi, prints a line about every thread: what a machine that seems
// to stand still waits for.

var dumpOnNMI bool

func dumpThreads() {
	puts("\n")
	for i := range tidBuckets {
		for t := tids[i]; t != nil; t = t.hashNext {
			puts("core: thread ")
			putdec(uint64(t.TID))
			puts(" ")
			putName(&t.name)
			puts(" state ")
			putdec(uint64(t.state))
			puts(" call ")
			putdec(t.call)
			puts(" on ")
			putdec(t.cpu.number)
			kv(" work ", uint64(t.work))
			kv(" pending ", t.pending|t.process.pending)
			kv(" mask ", t.mask)
			kv(" ip ", t.IP)
			kv(" di ", t.DI)
			kv(" si ", t.SI)
			if t.client != nil {
				puts(" serves ")
				putdec(uint64(t.client.TID))
			}
			puts("\n")
		}
	}
}
