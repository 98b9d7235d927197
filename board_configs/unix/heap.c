// The size of the Python heap on the PC.

// Bytes. The port's own 2 MB cannot hold a model of 3 MB; this holds several, and a fixed
// size makes MemoryError come as it does on a board. `-X heapsize=…` still overrides it.
#define HEAP_SIZE (32L * 1024 * 1024)

// Defined and read by the unix port's main.c, which offers no setting for it.
extern long heap_size;

// Runs before main(), so before the command line is read.
__attribute__((constructor)) static void set_heap_size(void) {
    heap_size = HEAP_SIZE;
}
