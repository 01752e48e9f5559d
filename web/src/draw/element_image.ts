/**
 * An element of the page as an image: what is drawn in it, and its text, backgrounds and lines as they stand on the screen.
 * Made for charts and for the timeline; icons and the outlines of controls are left out.
 */

const LONGEST_TEXT = 2000;

interface Painter {
    context: CanvasRenderingContext2D;
    /** The corner of the image in the window. */
    left: number;
    top: number;
}

function isSeen(style: CSSStyleDeclaration): boolean {
    return style.display !== 'none' && style.visibility !== 'hidden' && style.opacity !== '0';
}

function paintBox({ context, left, top }: Painter, box: DOMRect, style: CSSStyleDeclaration): void {
    const [x, y] = [box.left - left, box.top - top];
    context.fillStyle = style.backgroundColor;
    context.fillRect(x, y, box.width, box.height);
    const { width, height } = box;
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

/** The lines into which a text is broken on the screen. */
function linesOf(node: Text): { text: string; box: DOMRect }[] {
    const text = node.data.slice(0, LONGEST_TEXT);
    const range = document.createRange();
    const lines: { text: string; box: DOMRect }[] = [];
    for (let at = 0; at < text.length; at++) {
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const box = range.getBoundingClientRect();
        const last = lines[lines.length - 1];
        if (last && Math.abs(last.box.top - box.top) < box.height / 2) last.text += text[at];
        else if (box.width > 0) lines.push({ text: text[at] ?? '', box });
    }
    return lines;
}

function paintText({ context, left, top }: Painter, node: Text, style: CSSStyleDeclaration): void {
    context.fillStyle = style.color;
    context.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    context.textBaseline = 'middle';
    for (const { text, box } of linesOf(node)) context.fillText(text, box.left - left, box.top - top + box.height / 2);
}

function paint(painter: Painter, element: Element): void {
    const style = getComputedStyle(element);
    if (!isSeen(style) || element instanceof SVGElement) return;
    const { context, left, top } = painter;
    const box = element.getBoundingClientRect();
    context.save();
    context.globalAlpha *= Number(style.opacity);
    paintBox(painter, box, style);
    if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
        context.beginPath();
        context.rect(box.left - left, box.top - top, box.width, box.height);
        context.clip();
    }
    if (element instanceof HTMLCanvasElement && element.width > 0)
        context.drawImage(element, box.left - left, box.top - top, box.width, box.height);
    for (const child of element.childNodes) {
        if (child instanceof Text) {
            if (child.data.trim() !== '') paintText(painter, child, style);
        } else if (child instanceof Element) paint(painter, child);
    }
    context.restore();
}

/** PNG; `ground`: the colour below everything. */
export async function elementImage(element: Element, ratio: number, ground: string): Promise<Blob> {
    const box = element.getBoundingClientRect();
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(box.width * ratio));
    canvas.height = Math.max(1, Math.round(box.height * ratio));
    const context = canvas.getContext('2d');
    if (!context) throw new Error('The browser does not draw here');
    context.scale(ratio, ratio);
    context.fillStyle = ground;
    context.fillRect(0, 0, box.width, box.height);
    paint({ context, left: box.left, top: box.top }, element);
    return new Promise((resolve, reject) => {
        canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The image is too large'))), 'image/png');
    });
}
