// The flash of this CPU's board: RAM that follows a file of the PC.
#ifndef TTI_QEMU_LX7_FLASH_FILE_H
#define TTI_QEMU_LX7_FLASH_FILE_H

void flash_load(void);

#endif
