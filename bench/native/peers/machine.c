// What the machine itself can do: fused multiply-adds in float32 that touch no
// memory, and plain reads of memory in 2 MiB and in 4 KiB pages. Arguments:
// MODEL (unused) THREADS CONTEXT (unused). Events as in protocol.py.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	// One vector of the widest kind that the processor multiplies.
	LANES =
#if defined(__AVX512F__)
		16
#elif defined(__AVX__)
		8
#else
		4
#endif
};
typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef int64_t words __attribute__((vector_size(4 * LANES)));

enum { CHAINS = 12, LOOPS = 240000000, BYTES = 256 << 20, PASSES = 4, TRIES = 5 };

static int threads;
static char *memory;
static pthread_barrier_t barrier;
static double began[256], ended[256];
static volatile float sink_float;
static volatile int64_t sink_word;

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void multiply_add(void) {
	lanes x[CHAINS], a = {0}, b = {0};
	for (int i = 0; i < CHAINS; i++)
		x[i] = a + (float)i;
	a += 0.999f;
	b += 0.001f;
	__asm__ volatile("" : "+x"(a), "+x"(b));
	for (int n = 0; n < LOOPS / CHAINS; n++)
#pragma GCC unroll 12
		for (int i = 0; i < CHAINS; i++)
			x[i] = x[i] * a + b; // contracted to one instruction
	float sum = 0;
	for (int i = 0; i < CHAINS; i++)
		sum += x[i][0];
	sink_float = sum;
}

// part reads this thread's part, each word once a pass.
static void part(int thread) {
	size_t n = BYTES / threads;
	const words *p = (const words *)(memory + n * thread);
	words s[8] = {{0}};
	for (int pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < n / sizeof(words); i += 8)
#pragma GCC unroll 8
			for (int k = 0; k < 8; k++)
				s[k] ^= p[i + k];
	sink_word = (s[0] ^ s[1] ^ s[2] ^ s[3] ^ s[4] ^ s[5] ^ s[6] ^ s[7])[0];
}

static void *work(void *arg) {
	int thread = (int)(intptr_t)arg;
	pthread_barrier_wait(&barrier);
	began[thread] = now();
	if (memory)
		part(thread);
	else
		multiply_add();
	ended[thread] = now();
	return NULL;
}

// measure returns the time of the fastest of some tries, from the first
// thread's start to the last one's end.
static double measure(void) {
	double best = 1e9;
	for (int i = 0; i < TRIES; i++) {
		pthread_t t[256];
		pthread_barrier_init(&barrier, NULL, threads);
		for (int k = 0; k < threads; k++)
			pthread_create(&t[k], NULL, work, (void *)(intptr_t)k);
		for (int k = 0; k < threads; k++)
			pthread_join(t[k], NULL);
		pthread_barrier_destroy(&barrier);
		double first = began[0], last = ended[0];
		for (int k = 1; k < threads; k++) {
			first = began[k] < first ? began[k] : first;
			last = ended[k] > last ? ended[k] : last;
		}
		best = last - first < best ? last - first : best;
	}
	return best;
}

static double read_rate(int advice) {
	size_t huge = 2 << 20;
	char *map = mmap(NULL, BYTES + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED) {
		printf("{\"event\":\"error\",\"reason\":\"mmap\"}\n");
		exit(1);
	}
	memory = (char *)(((uintptr_t)map + huge - 1) & ~(huge - 1));
	madvise(memory, BYTES, advice);
	memset(memory, 1, BYTES);
	double rate = (double)BYTES * PASSES / measure();
	munmap(map, BYTES + huge);
	memory = NULL;
	return rate;
}

int main(int argc, char **argv) {
	threads = argc > 2 ? atoi(argv[2]) : 1;
	if (threads < 1 || threads > 256)
		return 2;
	printf("{\"event\":\"begin\",\"t\":%.9f}\n", now());
	printf("{\"event\":\"imported\",\"t\":%.9f,\"version\":\"gcc %s\"}\n", now(), __VERSION__);
	double operations = 2.0 * LANES * (LOOPS / CHAINS) * CHAINS * threads;
	printf("{\"event\":\"fma\",\"value\":%.6e}\n", operations / measure());
	printf("{\"event\":\"read_huge\",\"value\":%.6e}\n", read_rate(MADV_HUGEPAGE));
	printf("{\"event\":\"read_small\",\"value\":%.6e}\n", read_rate(MADV_NOHUGEPAGE));
	printf("{\"event\":\"end\",\"t\":%.9f}\n", now());
	return 0;
}
