// The host's services. The file of the flash is read at the start and written as it changes.
#include "host.h"

#include <stdbool.h>
#include <string.h>

#include "cpu.h"
#include "flash_file.h"

#include "py/mpconfig.h"

static int32_t open_file(const char *path, int how) {
    return host_call(HOST_OPEN, (uintptr_t)path, (uintptr_t)how, 0);
}

static bool read_whole(int32_t file, void *buf, size_t len) {
    for (size_t done = 0; done < len;) {
        int32_t got =
            host_call(HOST_READ, (uintptr_t)file, (uintptr_t)buf + done, (uintptr_t)(len - done));
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static bool read_file(const char *path, void *buf, size_t len) {
    int32_t file = open_file(path, HOST_READ_ONLY);
    if (file < 0) {
        return false;
    }
    bool whole = read_whole(file, buf, len);
    host_call(HOST_CLOSE, (uintptr_t)file, 0, 0);
    return whole;
}

bool cpu_host_random(void *buf, size_t len) {
    return read_file("/dev/urandom", buf, len);
}

// The number behind `label` at the start of a line of a text file, or before the first dot.
static uint32_t number_in_file(const char *path, const char *label) {
    int32_t file = open_file(path, HOST_READ_ONLY);
    uint32_t number = 0;
    size_t seen = 0;
    bool line_start = true;
    char c;
    while (file >= 0 && host_call(HOST_READ, (uintptr_t)file, (uintptr_t)&c, 1) == 1) {
        if (label[seen] == '\0') {
            if (c < '0' || c > '9') {
                break;
            }
            number = number * 10 + (uint32_t)(c - '0');
        } else {
            seen = (seen > 0 || line_start) && c == label[seen] ? seen + 1 : 0;
            line_start = c == '\n';
        }
    }
    if (file >= 0) {
        host_call(HOST_CLOSE, (uintptr_t)file, 0, 0);
    }
    return number;
}

// Linux tells when it started and for how long it has been up.
uint32_t cpu_host_seconds(void) {
    return number_in_file("/proc/stat", "btime ") + number_in_file("/proc/uptime", "");
}

void cpu_host_error(const char *line) {
    host_call(HOST_WRITE, HOST_ERRORS, (uintptr_t)line, strlen(line));
    host_call(HOST_WRITE, HOST_ERRORS, (uintptr_t)"\n", 1);
}

_Noreturn void cpu_host_exit(int status) {
    host_exit(status);
}

// The emulator's last argument names the file. A board without its flash must not run.
static int32_t open_flash(void) {
    static uint32_t arguments[256]; // addresses, 0, the texts
    int32_t bytes = host_call(HOST_ARGUMENT_BYTES, 0, 0, 0);
    if (bytes <= 0 || (size_t)bytes > sizeof(arguments)) {
        board_stop("the path of the flash is missing or too long");
    }
    host_call(HOST_ARGUMENTS, (uintptr_t)arguments, 0, 0);
    size_t count = 0;
    while (arguments[count] != 0) {
        count++;
    }
    int32_t file = open_file((const char *)arguments[count - 1], HOST_READ_WRITE);
    if (file < 0) {
        board_stop("the file of the flash cannot be opened");
    }
    return file;
}

static int32_t flash_file;

void flash_load(void) {
    flash_file = open_flash();
    if (!read_whole(flash_file, (void *)BOARD_FLASH_BASE, BOARD_FLASH_BYTES)) {
        board_stop("the file of the flash is too short");
    }
}

void cpu_flash_changed(const void *start, size_t bytes) {
    uintptr_t from = (uintptr_t)start;
    host_call(HOST_SEEK, (uintptr_t)flash_file, from - BOARD_FLASH_BASE, 0);
    for (size_t done = 0; done < bytes;) {
        int32_t put = host_call(HOST_WRITE, (uintptr_t)flash_file, from + done, bytes - done);
        if (put <= 0) {
            board_stop("the file of the flash cannot be written");
        }
        done += (size_t)put;
    }
}
