// llama.cpp, through the library that llama-cpp-python was built with, without
// Python: what a program in C gets. Arguments: MODEL THREADS CONTEXT
// NAME:TOKENS:ID,ID,… (one for each step). Events as in protocol.py.
#include "llama.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void quiet(enum ggml_log_level level, const char *text, void *data) {
	(void)level, (void)text, (void)data;
}

static void fail(const char *reason) {
	printf("{\"event\":\"error\",\"reason\":\"%s\"}\n", reason);
	exit(1);
}

static long long peak_memory(void) {
	char line[256];
	long long kib = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		sscanf(line, "VmHWM: %lld kB", &kib);
	if (f)
		fclose(f);
	return kib * 1024;
}

static int vocabulary;

static llama_token most_likely(struct llama_context *context) {
	const float *logits = llama_get_logits_ith(context, -1);
	int best = 0;
	for (int i = 1; i < vocabulary; i++)
		if (logits[i] > logits[best])
			best = i;
	return best;
}

static void run(struct llama_context *context, char *arg) {
	char *name = strtok(arg, ":");
	int n = atoi(strtok(NULL, ":"));
	char *list = strtok(NULL, ":");
	llama_token *ids = malloc((strlen(list) / 2 + 1) * sizeof *ids);
	llama_token *made = malloc(n * sizeof *made);
	int prompt = 0;
	for (char *id = strtok(list, ","); id; id = strtok(NULL, ","))
		ids[prompt++] = atoi(id);

	llama_memory_clear(llama_get_memory(context), true);
	double start = now(), first = 0;
	int batch = llama_n_batch(context);
	for (int i = 0; i < prompt; i += batch)
		if (llama_decode(context, llama_batch_get_one(ids + i, prompt - i < batch ? prompt - i : batch)))
			fail("llama_decode of the prompt");
	for (int i = 0; i < n; i++) {
		if (i && llama_decode(context, llama_batch_get_one(&made[i - 1], 1)))
			fail("llama_decode of a token");
		made[i] = most_likely(context);
		if (!i)
			first = now();
	}
	double last = now();
	printf("{\"event\":\"step\",\"name\":\"%s\",\"start\":%.9f,\"first\":%.9f,\"last\":%.9f,\"count\":%d,\"rss\":%lld,\"ids\":[",
		name, start, first, last, n, peak_memory());
	for (int i = 0; i < n; i++)
		printf(i ? ",%d" : "%d", made[i]);
	printf("]}\n");
	fflush(stdout);
	free(ids);
	free(made);
}

int main(int argc, char **argv) {
	if (argc < 4)
		fail("arguments");
	printf("{\"event\":\"begin\",\"t\":%.9f}\n", now());
	llama_log_set(quiet, NULL);
	// The bindings' version; the library tells only that of ggml.
	printf("{\"event\":\"imported\",\"t\":%.9f,\"version\":\"llama-cpp-python 0.3.36, ggml %s\"}\n", now(), ggml_version());
	llama_backend_init();
	struct llama_model_params m = llama_model_default_params();
	m.n_gpu_layers = 0;
	struct llama_model *model = llama_model_load_from_file(argv[1], m);
	if (!model)
		fail("llama_model_load_from_file");
	struct llama_context_params c = llama_context_default_params();
	c.n_ctx = atoi(argv[3]);
	c.n_batch = c.n_ubatch = 512;
	c.n_threads = c.n_threads_batch = atoi(argv[2]);
	c.no_perf = true;
	struct llama_context *context = llama_init_from_model(model, c);
	if (!context)
		fail("llama_init_from_model");
	vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
	printf("{\"event\":\"loaded\",\"t\":%.9f}\n", now());
	fflush(stdout);
	for (int i = 4; i < argc; i++)
		run(context, argv[i]);
	printf("{\"event\":\"end\",\"t\":%.9f}\n", now());
	return 0;
}
