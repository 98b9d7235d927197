// Which kernels a build has. Each op has a portable reference; a chip may replace some of them by
// faster ones that give the same bytes. The public name, tti_<op>, is the fastest; the reference
// of a replaced op stays linked as tti_ref_<op>, and where nothing is replaced that is the same
// name.
#ifndef TTI_TARGET_H
#define TTI_TARGET_H

// Cortex-M33 and its like: Thumb-2 with the DSP instructions and a float32 unit. TTI_PORTABLE
// leaves them out.
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__ARM_FP) &&                     \
    !defined(TTI_PORTABLE)
#if (__ARM_FP & 4) != 0
#define TTI_M33 1
#endif
#endif

// ESP32-S3: Xtensa LX7 with a float32 unit and vector instructions (PIE), which no macro of the
// compiler tells; Espressif's build does. -DTTI_PIE asks for them elsewhere.
#if defined(ESP_PLATFORM) && defined(__XTENSA__) && !defined(TTI_PIE)
#include "sdkconfig.h"
#ifdef CONFIG_IDF_TARGET_ESP32S3
#define TTI_PIE 1
#endif
#endif
#ifdef TTI_PORTABLE
#undef TTI_PIE
#endif

// Some references have faster ones beside them.
#if defined(TTI_M33) || defined(TTI_PIE)
#define TTI_FAST 1
#endif

// A function that keeps its large frame to itself: the way to a reference does not go through it.
#define TTI_APART __attribute__((noinline))

// A board may place the inner loops in RAM; in flash they would compete with the weights for the
// cache. The pico-sdk has a section for that.
#if defined(PICO_RP2350) && !defined(TTI_HOT_SECTION)
#define TTI_HOT_SECTION .time_critical.tti
#endif
#ifdef TTI_HOT_SECTION
#define TTI_STRING_(x) #x
#define TTI_STRING(x)  TTI_STRING_(x)
#define TTI_HOT        __attribute__((noinline, section(TTI_STRING(TTI_HOT_SECTION))))
#else
#define TTI_HOT
#endif

#endif
