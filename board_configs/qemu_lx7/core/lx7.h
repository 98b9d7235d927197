// The emulated core: QEMU's machine `sim` with the CPU de233_fpu. Assembly and C include this.
//
// Memory is the machine's RAM, seen from LX7_RAM on. Nothing else is mapped unless the page table
// says so: an access through a null or wild pointer is a fault, as on a chip with its memory
// protection set.
#ifndef TTI_QEMU_LX7_LX7_H
#define TTI_QEMU_LX7_LX7_H

#define LX7_RAM         0x20000000 // address 0 of the machine's RAM
#define LX7_PAGE_TABLE  0x21000000 // 4 MB: a word for each 4 KB of the address space
#define LX7_PAGE_ABSENT 0x0000000C // its contents where nothing is mapped
#define LX7_PAGE_DATA   0x00000003 // or'ed to a page's address in the machine's RAM
#define LX7_REGION_WAY  6          // of both TLBs: 8 regions of 512 MB

#define LX7_VECTORS_BYTES 0x400

#define LX7_PS_EXCEPTION 0x10
#define LX7_PS_MASKED    0x0F
#define LX7_PS_WINDOWED  0x40020 // windows, vectors for user exceptions

// Exception causes
#define LX7_ILLEGAL        0
#define LX7_INTERRUPT      4
#define LX7_ALLOCA         5
#define LX7_FETCH_MISS     16
#define LX7_FETCH_PROHIBIT 20
#define LX7_LOAD_MISS      24
#define LX7_LOAD_PROHIBIT  28
#define LX7_STORE_PROHIBIT 29

// What a trap saves, in bytes from its start; trap_frame_t is the same for C.
#define LX7_FRAME_PC     64
#define LX7_FRAME_CAUSE  68
#define LX7_FRAME_VADDR  72
#define LX7_FRAME_PS     76
#define LX7_FRAME_SAR    80
#define LX7_FRAME_LBEG   84
#define LX7_FRAME_LEND   88
#define LX7_FRAME_LCOUNT 92
#define LX7_FRAME_BYTES  96

#ifndef __ASSEMBLER__

void lx7_forget_pages(void); // after a change of the page table

#endif

#endif
