# User C module `_tti`, for MicroPython ports built by cmake (rp2, esp32):
# USER_C_MODULES=<the repository>/native/micropython.cmake

add_library(usermod_tti INTERFACE)

# The binding is scanned for MP_QSTR_ names, and so are the kernels, which have none.
file(GLOB TTI_BINDING CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/binding/*.c)
file(GLOB TTI_KERNELS CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_LIST_DIR}/core/*.c
    ${CMAKE_CURRENT_LIST_DIR}/core/*.S
)
target_sources(usermod_tti INTERFACE ${TTI_BINDING} ${TTI_KERNELS})
target_include_directories(usermod_tti INTERFACE ${CMAKE_CURRENT_LIST_DIR}/core)

# Which file gives ops a second core: none, rp2, freertos. A board picks it.
if(NOT DEFINED TTI_PARALLEL)
    set(TTI_PARALLEL none)
endif()
target_sources(usermod_tti INTERFACE
    ${CMAKE_CURRENT_LIST_DIR}/parallel/split.c
    ${CMAKE_CURRENT_LIST_DIR}/parallel/parallel_${TTI_PARALLEL}.c
)
target_include_directories(usermod_tti INTERFACE ${CMAKE_CURRENT_LIST_DIR}/parallel)
target_compile_definitions(usermod_tti INTERFACE TTI_PARALLEL_${TTI_PARALLEL})

# Memory that a board may set aside at boot.
target_sources(usermod_tti INTERFACE ${CMAKE_CURRENT_LIST_DIR}/reserve/reserve.c)
target_include_directories(usermod_tti INTERFACE ${CMAKE_CURRENT_LIST_DIR}/reserve)

# Every chip gives the same bytes only if no multiply and add is fused behind our back.
target_compile_options(usermod_tti INTERFACE -ffp-contract=off)

# A board may ask for more optimisation of the kernels alone.
set_source_files_properties(${TTI_KERNELS} PROPERTIES COMPILE_OPTIONS "${TTI_KERNEL_COPT}")

# The line editor takes the place of shared/readline in the link; -DTTI_READLINE=0 leaves the stock
# one.
set(TTI_READLINE 1 CACHE STRING "1: the prompt takes UTF-8; 0: MicroPython's own line editor")
file(GLOB TTI_EDITOR CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/readline/*.c)
target_sources(usermod_tti INTERFACE ${TTI_EDITOR})
target_include_directories(usermod_tti INTERFACE ${CMAKE_CURRENT_LIST_DIR}/readline)
target_compile_definitions(usermod_tti INTERFACE TTI_READLINE=${TTI_READLINE})
if(TTI_READLINE)
    foreach(name readline readline_init0 readline_init readline_note_newline
            readline_process_char readline_push_history)
        target_link_options(usermod_tti INTERFACE -Wl,--wrap=${name})
    endforeach()
endif()

target_link_libraries(usermod INTERFACE usermod_tti)
