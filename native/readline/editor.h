// A line editor for MicroPython's prompt that takes UTF-8 and edits by code point.
//
// It stands in for MicroPython's shared/readline, which drops every byte above 126. The linker
// puts it in the other's place (--wrap), so that no source of MicroPython is changed; a build with
// TTI_READLINE=0 keeps the stock editor.
#ifndef TTI_READLINE_EDITOR_H
#define TTI_READLINE_EDITOR_H

#include <stdbool.h>

#ifndef TTI_READLINE
#define TTI_READLINE (1)
#endif

// Whether this firmware's prompt calls this editor.
bool tti_readline_is_linked(void);

#endif
