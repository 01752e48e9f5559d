/**
 * Saves an element of the page as an image, with its canvases, text, backgrounds and lines. Used for charts and the
 * timeline; omits icons and the outlines of controls.
 */

const LONGEST_TEXT = 2000;

interface Painter {
    context: CanvasRenderingContext2D;
    /** px: left edge of the image in the window. */
    left: number;
    top: number;
}

function isSeen(style: CSSStyleDeclaration): boolean {
    return style.display !== 'none' && style.visibility !== 'hidden' && style.opacity !== '0';
}

function paintRect({ context, left, top }: Painter, rect: DOMRect, style: CSSStyleDeclaration): void {
    const [x, y] = [rect.left - left, rect.top - top];
    context.fillStyle = style.backgroundColor;
    context.fillRect(x, y, rect.width, rect.height);
    const { width, height } = rect;
    const line = (side: string, place: (size: number) => [number, number, number, number]): void => {
        const size = Number.parseFloat(style.getPropertyValue(`border-${side}-width`));
        if (style.getPropertyValue(`border-${side}-style`) === 'none' || !(size > 0)) return;
        context.fillStyle = style.getPropertyValue(`border-${side}-color`);
        context.fillRect(...place(size));
    };
    line('top', (size) => [x, y, width, size]);
    line('bottom', (size) => [x, y + height - size, width, size]);
    line('left', (size) => [x, y, size, height]);
    line('right', (size) => [x + width - size, y, size, height]);
}

/** Returns the lines into which the browser breaks a text. */
function linesOf(node: Text): { text: string; rect: DOMRect }[] {
    const text = node.data.slice(0, LONGEST_TEXT);
    const range = document.createRange();
    const lines: { text: string; rect: DOMRect }[] = [];
    for (let at = 0; at < text.length; at++) {
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const rect = range.getBoundingClientRect();
        const last = lines[lines.length - 1];
        if (last && Math.abs(last.rect.top - rect.top) < rect.height / 2) last.text += text[at];
        else if (rect.width > 0) lines.push({ text: text[at] ?? '', rect });
    }
    return lines;
}

function paintText({ context, left, top }: Painter, node: Text, style: CSSStyleDeclaration): void {
    context.fillStyle = style.color;
    context.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    context.textBaseline = 'middle';
    for (const { text, rect } of linesOf(node))
        context.fillText(text, rect.left - left, rect.top - top + rect.height / 2);
}

function paint(painter: Painter, element: Element): void {
    const style = getComputedStyle(element);
    if (!isSeen(style) || element instanceof SVGElement) return;
    const { context, left, top } = painter;
    const rect = element.getBoundingClientRect();
    context.save();
    context.globalAlpha *= Number(style.opacity);
    paintRect(painter, rect, style);
    if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
        context.beginPath();
        context.rect(rect.left - left, rect.top - top, rect.width, rect.height);
        context.clip();
    }
    if (element instanceof HTMLCanvasElement && element.width > 0)
        context.drawImage(element, rect.left - left, rect.top - top, rect.width, rect.height);
    for (const child of element.childNodes) {
        if (child instanceof Text) {
            if (child.data.trim() !== '') paintText(painter, child, style);
        } else if (child instanceof Element) paint(painter, child);
    }
    context.restore();
}

/** Returns the element as a PNG. `ground`: background color of the image. */
export async function elementImage(element: Element, ratio: number, ground: string): Promise<Blob> {
    const rect = element.getBoundingClientRect();
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(rect.width * ratio));
    canvas.height = Math.max(1, Math.round(rect.height * ratio));
    const context = canvas.getContext('2d');
    if (!context) throw new Error('This browser cannot draw the image');
    context.scale(ratio, ratio);
    context.fillStyle = ground;
    context.fillRect(0, 0, rect.width, rect.height);
    paint({ context, left: rect.left, top: rect.top }, element);
    return new Promise((resolve, reject) => {
        canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The image is too large'))), 'image/png');
    });
}
