# A stand-in for ESP-IDF's build system, as far as MicroPython's esp32 port uses it: one component,
# compiled for this PC, linked to a program. What the port's and our CMake files ask of it is real.
set(CONFIG_IDF_TARGET_ARCH_XTENSA 1)
set(CONFIG_IDF_TARGET_ESP32S3 1)
set(IDF_PATH $ENV{IDF_PATH})

macro(idf_component_register)
    cmake_parse_arguments(component "" "" "SRCS;INCLUDE_DIRS;LDFRAGMENTS;REQUIRES" ${ARGN})
    set(COMPONENT_TARGET __idf_main)
    add_library(${COMPONENT_TARGET} STATIC ${component_SRCS})
    target_include_directories(${COMPONENT_TARGET} PUBLIC ${component_INCLUDE_DIRS})
endmacro()

macro(project name)
    _project(${name} C ASM)
    add_subdirectory(main)
    file(WRITE ${CMAKE_BINARY_DIR}/empty.c "")
    add_executable(${name}.elf ${CMAKE_BINARY_DIR}/empty.c)
    target_link_libraries(${name}.elf __idf_main)
endmacro()
