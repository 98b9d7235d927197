// Shows what the reader in native/core/model_file.c says, for comparison with the one in Python.
//
//     model_probe --statuses    one line for each status: its sentence
//     model_probe               reads cases from standard input: length (4 bytes, little-endian),
//                               then a file. For each it answers with lines and an empty line:
//                               `status explanation`, and if the file is in order one line
//                               `name dtype layout scale offset bytes crc elements shape...` for
//                               each tensor.
#include "model_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_tensor(const tti_model_t *m, uint32_t index) {
    tti_tensor_t t;
    if (tti_model_tensor(m, index, &t) != TTI_MODEL_OK) {
        printf("missing\n");
        return;
    }
    printf("%s %u %u %u %u %u %08x %u", t.name, t.dtype, t.layout, t.scale, t.offset, t.bytes,
           tti_crc32(0, t.data, t.bytes), t.elements);
    for (uint32_t i = 0; i < t.rank; i++) {
        printf(" %u", t.shape[i]);
    }
    printf("\n");
}

static void answer(const uint8_t *file, size_t len) {
    char text[192];
    tti_model_t m;
    tti_model_status_t status = tti_model_check(file, len, &m);
    if (status == TTI_MODEL_OK) {
        status = tti_model_verify(&m);
    }
    tti_model_explain(&m, status, text, sizeof(text));
    printf("%d %s\n", (int)status, text);
    for (uint32_t i = 0; status == TTI_MODEL_OK && i < m.tensor_count; i++) {
        print_tensor(&m, i);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--statuses") == 0) {
        for (int i = 0; i < TTI_MODEL_STATUS_COUNT; i++) {
            printf("%s\n", tti_status_text((tti_model_status_t)i));
        }
        return 0;
    }
    uint8_t size[4];
    while (fread(size, 1, 4, stdin) == 4) {
        size_t len =
            size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
        // A block of its own for each file, so that the sanitizer sees a read outside it.
        uint8_t *file = malloc(len ? len : 1);
        if (file == NULL || fread(file, 1, len, stdin) != len) {
            return 1;
        }
        answer(file, len);
        free(file);
    }
    return 0;
}
