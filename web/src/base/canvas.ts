/** The base of all canvases: the size in device pixels, and the colors of the style sheets. */

/** Device pixels of a CSS pixel; more than `most` cannot be seen. */
export function pixelRatio(most = 3): number {
    return Math.min(window.devicePixelRatio || 1, most);
}

/** The same for graphs that have data in each column of device pixels. */
export function columnRatio(): number {
    return pixelRatio(2);
}

/** Gives a canvas of `width` by `height` px its device pixels. What was drawn is gone only if that changes their number. */
export function sizeCanvas(canvas: HTMLCanvasElement, width: number, height: number, ratio = pixelRatio()): void {
    const columns = Math.max(1, Math.round(width * ratio));
    const rows = Math.max(1, Math.round(height * ratio));
    if (canvas.width !== columns) canvas.width = columns;
    if (canvas.height !== rows) canvas.height = rows;
}

/** The same, for a new picture: nothing is drawn, and the unit of the context is a device pixel. */
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

/** A color of the style sheets, for the theme that is on: "line-strong". */
export function styleColor(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
