// A plugin of QEMU 7 (TCG) that counts how often each instruction is run. It lives on the PC.
// usage: -plugin lx7_counts.so,counts=FILE,first=ADDRESS,last=ADDRESS
// FILE holds 8 bytes for each address from `first` to before `last` and is shared with whoever
// reads it; the counts are those of instructions that begin there.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// What is used of QEMU's interface, version 1; Debian has no header of it.
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum {
    QEMU_PLUGIN_INLINE_ADD_U64
};
typedef uint64_t qemu_plugin_id_t;
typedef void (*tb_translated_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_translated_t callback);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
                                                        size_t index);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int op,
                                                       void *counter, uint64_t added);

__attribute__((visibility("default"))) extern int qemu_plugin_version;
int qemu_plugin_version = 1;
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

static uint64_t *counts;
static uint64_t first, last;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint64_t address = qemu_plugin_insn_vaddr(insn);
        if (address >= first && address < last) {
            qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                                       &counts[address - first], 1);
        }
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
    (void)info;
    const char *path = "";
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "counts=", 7) == 0) {
            path = argv[i] + 7;
        } else if (strncmp(argv[i], "first=", 6) == 0) {
            first = strtoull(argv[i] + 6, NULL, 0);
        } else if (strncmp(argv[i], "last=", 5) == 0) {
            last = strtoull(argv[i] + 5, NULL, 0);
        }
    }
    size_t bytes = (size_t)(last - first) * sizeof(*counts);
    int file = open(path, O_RDWR);
    if (file >= 0) {
        counts = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
    }
    if (file < 0 || counts == MAP_FAILED) {
        fprintf(stderr, "lx7_counts: %s cannot be mapped\n", path);
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
