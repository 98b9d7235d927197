// As far as MicroPython's headers need it.
extern volatile uint32_t chip_gpio_out;
#define GPIO_OUT_REG (&chip_gpio_out)
