#include "../chip.h"
