// As far as MicroPython's headers need it.
typedef int spi_host_device_t;
