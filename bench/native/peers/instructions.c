// A plugin of QEMU that counts the instructions of a program and writes
// {"event":"instructions","value":N} to its standard error at the end. QEMU's
// header need not be there: these are the declarations of version 1 of its
// interface for plugins (docs/devel/tcg-plugins.rst of QEMU).
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, enum qemu_plugin_op, void *, uint64_t);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;

static uint64_t count;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &count, qemu_plugin_tb_n_insns(block));
}

static void ended(qemu_plugin_id_t id, void *data) {
	(void)id, (void)data;
	fprintf(stderr, "{\"event\":\"instructions\",\"value\":%" PRIu64 "}\n", count);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
	(void)info, (void)argc, (void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
