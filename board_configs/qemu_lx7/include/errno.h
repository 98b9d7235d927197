#ifndef TTI_LX7_ERRNO_H
#define TTI_LX7_ERRNO_H

extern int errno;
#define EDOM   33
#define ERANGE 34

#endif
