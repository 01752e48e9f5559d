#include "tree/pixel_values.h"

#include <math.h>

void pixel_values_start(struct pixel_values *pixels, double from, double to)
{
    pixels->from = from;
    pixels->per_ms = pixels->width / (to - from);
    for (uint32_t x = 0; x < pixels->width; x++) {
        pixels->values[x] = NAN;
        if (pixels->whose)
            pixels->whose[x] = UINT32_MAX;
    }
}

void pixel_values_raise(const struct pixel_values *pixels, double start, double end, double value, uint32_t whose)
{
    double left = floor((start - pixels->from) * pixels->per_ms), right = (end - pixels->from) * pixels->per_ms;
    if (right < 0 || (right == 0 && end > start) || left >= pixels->width)
        return;
    uint32_t first = left > 0 ? (uint32_t)left : 0;
    uint32_t last = right >= pixels->width ? pixels->width : (uint32_t)ceil(right);
    last = last > first ? last : first + 1;
    for (uint32_t x = first; x < last && x < pixels->width; x++)
        if (isnan(pixels->values[x]) || pixels->values[x] < value) {
            pixels->values[x] = (float)value;
            if (pixels->whose)
                pixels->whose[x] = whose;
        }
}
