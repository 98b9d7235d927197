#ifndef TTI_LX7_UNISTD_H
#define TTI_LX7_UNISTD_H

#include <stdio.h>
#include <sys/types.h>

#endif
