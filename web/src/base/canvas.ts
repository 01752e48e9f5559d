/** The base of all canvases: the size in device pixels, and the colors of the style sheets. */

/** Returns the device pixels of a CSS pixel, at most `most`, because a finer resolution is not visible. */
export function pixelRatio(most = 3): number {
    return Math.min(window.devicePixelRatio || 1, most);
}

/** Like pixelRatio(), for graphs that have data in each column of device pixels. */
export function columnRatio(): number {
    return pixelRatio(2);
}

/**
 * Sets the size of a canvas to the device pixels of `width` by `height` px. The canvas keeps its picture if this number
 * does not change.
 */
export function sizeCanvas(canvas: HTMLCanvasElement, width: number, height: number, ratio = pixelRatio()): void {
    const columns = Math.max(1, Math.round(width * ratio));
    const rows = Math.max(1, Math.round(height * ratio));
    if (canvas.width !== columns) canvas.width = columns;
    if (canvas.height !== rows) canvas.height = rows;
}

/** Sets the size of a canvas, clears the canvas, and sets the unit of the context to a device pixel. */
export function cleanContext(
    canvas: HTMLCanvasElement,
    width: number,
    height: number,
    ratio = pixelRatio(),
): CanvasRenderingContext2D | null {
    const context = canvas.getContext('2d');
    if (!context) return null;
    sizeCanvas(canvas, width, height, ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    return context;
}

/** Returns a color of the style sheets for the current theme: "line-strong". */
export function styleColor(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
