// MicroPython includes it; nothing of it is used here.
