#ifndef TTI_LX7_ALLOCA_H
#define TTI_LX7_ALLOCA_H

#define alloca __builtin_alloca

#endif
