// As far as MicroPython's headers need ESP-IDF's and FreeRTOS's.
typedef int esp_err_t;
typedef int portMUX_TYPE;
#define portENTER_CRITICAL(mux) ((void)(mux))
#define portEXIT_CRITICAL(mux)  ((void)(mux))
