// As far as MicroPython's headers need it.
#include <stdint.h>

typedef int gpio_num_t;
enum {
    GPIO_MODE_INPUT,
    GPIO_MODE_INPUT_OUTPUT,
    GPIO_MODE_INPUT_OUTPUT_OD
};
void esp_rom_gpio_pad_select_gpio(uint32_t pin);
esp_err_t gpio_set_direction(gpio_num_t pin, int mode);
esp_err_t gpio_set_level(gpio_num_t pin, uint32_t level);
int gpio_get_level(gpio_num_t pin);
