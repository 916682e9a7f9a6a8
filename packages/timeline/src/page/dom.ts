type Child = Node | string | undefined | false;
type Handlers = {
  readonly [name in keyof HTMLElementEventMap as `on${name}`]?: (event: HTMLElementEventMap[name]) => void;
};

/**
 * Creates an element. Text becomes text nodes and attributes are set individually, so no manifest content is parsed as
 * markup. Attributes that are `undefined` or `false` are omitted.
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | number | boolean | undefined>> & { readonly style?: never } = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== undefined && child !== false) element.append(child);
  return element;
}

/** Adds event listeners and returns the element. */
export function addListener<T extends HTMLElement>(element: T, handlers: Handlers): T {
  for (const [name, handler] of Object.entries(handlers))
    element.addEventListener(name.slice(2), handler as unknown as EventListener);
  return element;
}

export function button(label: string, title: string, onclick: () => void, className = "button"): HTMLButtonElement {
  return addListener(h("button", { type: "button", class: className, title, "aria-label": title }, label), { onclick });
}

/** Creates an SVG icon from one path, in the color of the text. */
export function icon(path: string, size = 16): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({
    viewBox: "0 0 16 16",
    width: size,
    height: size,
    "aria-hidden": "true",
  }))
    svg.setAttribute(name, String(value));
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

const SVG = "http://www.w3.org/2000/svg";

/** Resizes a canvas to device pixels, and returns a drawing context in CSS pixels. */
export function fitCanvas(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const [pixelsWide, pixelsHigh] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== pixelsWide || canvas.height !== pixelsHigh) {
    canvas.width = pixelsWide;
    canvas.height = pixelsHigh;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
