/** Writes the oklch() colors of a style sheet as #rrggbb or #rrggbbaa, which canvases and older browsers read. */

/**
 * @param {number} l @param {number} c @param {number} h degrees. Returns the linear red, green and blue, which exceed 0
 * to 1 outside of sRGB.
 */
export function linearRgb(l, c, h) {
    const a = c * Math.cos((h * Math.PI) / 180);
    const b = c * Math.sin((h * Math.PI) / 180);
    const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
    ];
}

function hexByte(value) {
    return Math.round(255 * Math.min(1, Math.max(0, value)))
        .toString(16)
        .padStart(2, '0');
}

function hexOfLinear(value) {
    return hexByte(value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);
}

export function writeHexColors(css) {
    return css.replace(/oklch\(([\d.]+)% ([\d.]+) ([\d.]+)(?: \/ ([\d.]+)%)?\)/g, (_, l, c, h, alpha) => {
        const color = linearRgb(l / 100, Number(c), Number(h))
            .map(hexOfLinear)
            .join('');
        return `#${color}${alpha === undefined ? '' : hexByte(alpha / 100)}`;
    });
}
