#ifndef TTI_LX7_SETJMP_H
#define TTI_LX7_SETJMP_H

typedef unsigned jmp_buf[13]; // core/setjmp.S
int setjmp(jmp_buf place) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf place, int value);

#endif
