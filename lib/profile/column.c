#include "profile/column.h"

#include "base/array.h"
#include "profile/profile.h"

size_t column_get_element_size(enum column_type type)
{
    switch (type) {
    case COLUMN_ADDRESS:
        return sizeof(int64_t);
    case COLUMN_DOUBLE:
        return sizeof(double);
    case COLUMN_SMALL:
    case COLUMN_FLAG:
        return sizeof(uint8_t);
    default:
        return sizeof(uint32_t);
    }
}

bool column_reserve(struct column *column, enum column_type type, size_t extra)
{
    return array_grow(&column->data, column->length, &column->capacity, extra, column_get_element_size(type));
}

size_t column_append(struct column *column, enum column_type type, const double *values, size_t count)
{
    size_t i = 0;
    if (type == COLUMN_DOUBLE) {
        memcpy((double *)column->data + column->length, values, count * sizeof(*values));
        i = count;
    } else if (type == COLUMN_ADDRESS) {
        int64_t *out = (int64_t *)column->data + column->length;
        for (; i < count; i++) {
            if (!isnan(values[i]) && !(fabs(values[i]) <= 9007199254740992.0 && floor(values[i]) == values[i]))
                break;
            out[i] = isnan(values[i]) ? -1 : (int64_t)values[i];
        }
    } else if (type == COLUMN_SMALL || type == COLUMN_FLAG) {
        uint8_t *out = (uint8_t *)column->data + column->length;
        for (; i < count; i++)
            out[i] = !(values[i] > 0) ? 0 : values[i] >= UINT8_MAX ? UINT8_MAX : (uint8_t)values[i];
    } else if (type == COLUMN_POSITION) {
        uint32_t *out = (uint32_t *)column->data + column->length;
        for (; i < count; i++)
            out[i] = !(values[i] > 0) ? 0 : values[i] >= UINT32_MAX ? UINT32_MAX - 1 : (uint32_t)values[i];
    } else {
        uint32_t *out = (uint32_t *)column->data + column->length;
        double limit = type == COLUMN_REF ? (double)RAW_TEXT : (double)PROFILE_NONE;
        for (; i < count; i++) {
            bool whole = values[i] >= 0 && values[i] < limit;
            out[i] = whole ? (uint32_t)values[i] : PROFILE_NONE;
            if (whole ? (double)out[i] != values[i] : !(isnan(values[i]) || values[i] == -1))
                break;
        }
    }
    column->length += i;
    return i;
}
