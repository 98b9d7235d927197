# User C module `_tti`, for MicroPython ports built by cmake (rp2, esp32):
# USER_C_MODULES=<the repository>/native/micropython.cmake

add_library(usermod_tti INTERFACE)

file(GLOB TTI_SOURCES CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_LIST_DIR}/binding/*.c
    ${CMAKE_CURRENT_LIST_DIR}/core/*.c
    ${CMAKE_CURRENT_LIST_DIR}/core/*.S
)
target_sources(usermod_tti INTERFACE ${TTI_SOURCES})
target_include_directories(usermod_tti INTERFACE ${CMAKE_CURRENT_LIST_DIR}/core)
# Every chip gives the same bytes only if no multiply and add is fused behind our back.
target_compile_options(usermod_tti INTERFACE -ffp-contract=off)

target_link_libraries(usermod INTERFACE usermod_tti)
