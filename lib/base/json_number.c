/*
 * Reading. A number is digits * 10^exponent. With at most 19 digits and an exponent of at most 27 either way,
 * 5^exponent fits in 64 bits, so the product, or the quotient with its remainder, is exact in 128 bits and rounded
 * once. (The special case of digits < 2^53 and exponent <= 22, where one floating-point operation on exact operands
 * rounds rightly, is from Clinger, "How to read floating point numbers accurately", 1990.) The other numbers, less than
 * one in a million of a profile, go to strtod().
 *
 * Writing. Nearly every double in a profile comes from a short decimal: the first k with round(value * 10^k) / 10^k ==
 * value gives the shortest text. Other doubles get 16 or 17 digits from the exact product with a power of five, again
 * in 128 bits.
 */
#include "base/json_number.h"

#include "base/ascii.h"

#include <float.h>

__extension__ typedef unsigned __int128 uint128;

enum { MAX_POWER = 27, EXACT_POWER = 22, MAX_DIGITS = 19, DOUBLE_BITS = 53 };
/* A double can represent every integer up to this limit. */
static const uint64_t EXACT_INTEGERS = UINT64_C(1) << DOUBLE_BITS;

static const double POWERS_OF_TEN[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const uint64_t POWERS_OF_FIVE[MAX_POWER + 1] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

static int count_bits(uint128 value)
{
    uint64_t high = (uint64_t)(value >> 64);
    return high ? 128 - __builtin_clzll(high) : value ? 64 - __builtin_clzll((uint64_t)value) : 0;
}

/* Returns value >> shift, rounded to nearest, ties to even; `sticky`: the true value is a little above `value`. */
static uint128 shift_and_round(uint128 value, int shift, bool sticky)
{
    if (shift <= 0)
        return value << -shift;
    if (shift > 127)
        return 0;
    uint128 kept = value >> shift;
    uint128 lost = value & (((uint128)1 << shift) - 1), half = (uint128)1 << (shift - 1);
    bool up = lost > half || (lost == half && (sticky || (kept & 1)));
    return kept + up;
}

/* Returns value * 2^exponent as a double. `sticky`: the true value is a little above `value`, which must then have more
 * than 53 bits. */
static double make_double(uint128 value, int exponent, bool sticky)
{
    int excess = count_bits(value) - DOUBLE_BITS;
    if (excess <= 0)
        return ldexp((double)(uint64_t)value, exponent);
    return ldexp((double)(uint64_t)shift_and_round(value, excess, sticky), exponent + excess);
}

bool number_scale(uint64_t digits, int exponent, double *value)
{
    if (digits <= EXACT_INTEGERS && exponent >= -EXACT_POWER && exponent <= EXACT_POWER) {
        *value = exponent < 0 ? (double)digits / POWERS_OF_TEN[-exponent] : (double)digits * POWERS_OF_TEN[exponent];
        return true;
    }
    if (exponent < -MAX_POWER || exponent > MAX_POWER || digits == 0)
        return false;
    if (exponent >= 0) {
        *value = make_double((uint128)digits * POWERS_OF_FIVE[exponent], exponent, false);
        return true;
    }
    int shift = 128 - count_bits(digits); /* the quotient keeps at least 65 bits: the divisor has at most 63 */
    uint128 numerator = (uint128)digits << shift;
    uint128 quotient = numerator / POWERS_OF_FIVE[-exponent];
    bool inexact = quotient * POWERS_OF_FIVE[-exponent] != numerator;
    *value = make_double(quotient, exponent - shift, inexact);
    return true;
}

/* Parses a number with many digits or of extreme size with the C library, which needs a NUL, and the C locale, which
 * this program never changes. Digits after the 400th do not change the result for any printed double. */
static double parse_with_strtod(const char *text, size_t length)
{
    char copy[512];
    char *heap = length < sizeof(copy) ? NULL : malloc(length + 1);
    char *whole = heap ? heap : copy;
    if (length >= sizeof(copy) && !heap)
        length = sizeof(copy) - 1;
    memcpy(whole, text, length);
    whole[length] = '\0';
    double value = strtod(whole, NULL);
    free(heap);
    return isinf(value) ? copysign(DBL_MAX, value) : value;
}

double number_parse(const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    bool negative = at < end && *at == '-';
    at += negative;
    uint64_t digits = 0;
    int count = 0, exponent = 0;
    for (; at < end && is_digit(*at); at++) {
        digits = digits * 10 + (uint64_t)(*at - '0');
        count += count || *at != '0';
        if (count > MAX_DIGITS)
            return parse_with_strtod(text, length);
    }
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at); at++) {
            digits = digits * 10 + (uint64_t)(*at - '0');
            count += count || *at != '0';
            exponent--;
            if (count > MAX_DIGITS || exponent < -1000)
                return parse_with_strtod(text, length);
        }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        bool minus = at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+'))
            at++;
        int given = 0;
        for (; at < end && is_digit(*at); at++)
            if (given < 10000)
                given = given * 10 + (*at - '0');
        exponent += minus ? -given : given;
    }
    double value;
    if (digits == 0)
        value = 0;
    else if (!number_scale(digits, exponent, &value))
        return parse_with_strtod(text, length);
    return negative ? -value : value;
}

static unsigned count_digits(uint64_t value)
{
    unsigned count = 1;
    for (; value >= 10; value /= 10)
        count++;
    return count;
}

char *number_put_unsigned(char *out, uint64_t value)
{
    unsigned count = count_digits(value);
    for (unsigned i = count; i-- > 0; value /= 10)
        out[i] = (char)('0' + value % 10);
    return out + count;
}

char *number_put_signed(char *out, int64_t value)
{
    if (value < 0)
        *out++ = '-';
    return number_put_unsigned(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

char *number_put_decimal(char *out, int64_t value, unsigned decimals)
{
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    if (value < 0)
        *out++ = '-';
    for (; decimals && magnitude % 10 == 0; decimals--)
        magnitude /= 10;
    uint64_t power = 1;
    for (unsigned i = 0; i < decimals; i++)
        power *= 10;
    out = number_put_unsigned(out, magnitude / power);
    if (!decimals)
        return out;
    *out++ = '.';
    uint64_t fraction = magnitude % power;
    for (unsigned i = decimals; i-- > 0; fraction /= 10)
        out[i] = (char)('0' + fraction % 10);
    return out + decimals;
}

/* Writes digits * 10^exponent, such as "1.234e-20", for numbers with too many zeros in plain notation. */
static char *write_scientific(char *out, uint64_t digits, int exponent)
{
    unsigned places = count_digits(digits) - 1;
    out = number_put_decimal(out, (int64_t)digits, places);
    *out++ = 'e';
    return number_put_signed(out, exponent + (int)places);
}

/* Writes digits * 10^-scale, scale 0 to 27. */
static char *write_digits(char *out, uint64_t digits, int scale)
{
    for (; scale && digits % 10 == 0; scale--)
        digits /= 10;
    return scale <= 18 ? number_put_decimal(out, (int64_t)digits, (unsigned)scale)
                       : write_scientific(out, digits, -scale);
}

/* Writes 16 or 17 digits of a value whose last digit is between the places 10^0 and 10^-27, and moves *out past them.
 * Returns false for any other value. */
static bool write_long_double(char **out, double value)
{
    int exponent;
    double fraction = frexp(value, &exponent); /* value = fraction * 2^exponent, fraction in [0.5, 1) */
    uint64_t mantissa = (uint64_t)ldexp(fraction, DOUBLE_BITS);
    exponent -= DOUBLE_BITS;
    int whole_digits = (int)floor(log10(value)) + 1;
    for (int precision = 16; precision <= 17; precision++) {
        int scale = precision - whole_digits;
        if (scale < 0 || scale > MAX_POWER || -(exponent + scale) < 0)
            break;
        uint128 product = (uint128)mantissa * POWERS_OF_FIVE[scale];
        uint64_t digits = (uint64_t)shift_and_round(product, -(exponent + scale), false);
        double back;
        if (number_scale(digits, -scale, &back) && back == value) {
            *out = write_digits(*out, digits, scale);
            return true;
        }
    }
    return false;
}

/* Writes a number of a magnitude far from one with the C library, and corrects its decimal point, which follows the
 * locale. */
static char *write_with_printf(char *out, double value)
{
    for (int precision = 15; precision <= 17; precision++) {
        int length = snprintf(out, NUMBER_MAX, "%.*g", precision, value);
        char *comma = memchr(out, ',', (size_t)length);
        if (comma)
            *comma = '.';
        if (precision == 17 || number_parse(out, (size_t)length) == value)
            return out + length;
    }
    return out;
}

char *number_put_double(char *out, double value)
{
    if (!isfinite(value)) {
        memcpy(out, "null", 4);
        return out + 4;
    }
    double magnitude = fabs(value);
    if (magnitude < 1e15 && magnitude == floor(magnitude))
        return number_put_signed(out, (int64_t)value);
    if (value < 0)
        *out++ = '-';
    for (int scale = 1; scale <= 18; scale++) {
        double shifted = magnitude * POWERS_OF_TEN[scale];
        if (shifted > 1e15)
            break;
        double digits = floor(shifted + 0.5);
        if (digits > 0 && digits / POWERS_OF_TEN[scale] == magnitude)
            return number_put_decimal(out, (int64_t)digits, (unsigned)scale);
    }
    return write_long_double(&out, magnitude) ? out : write_with_printf(out, magnitude);
}
