type Child = Node | string | undefined | false;
type Handlers = {
  readonly [name in keyof HTMLElementEventMap as `on${name}`]?: (event: HTMLElementEventMap[name]) => void;
};

/**
 * Makes an element. Text becomes text nodes and attributes are set one by one, so nothing that a manifest says is ever
 * parsed as markup. Attributes that are `undefined` or `false` are left out.
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

/** Adds listeners, and answers the element. */
export function listen<T extends HTMLElement>(element: T, handlers: Handlers): T {
  for (const [name, handler] of Object.entries(handlers))
    element.addEventListener(name.slice(2), handler as unknown as EventListener);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** A shape made of one path in a square of 16, drawn with the text's colour. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }))
    svg.setAttribute(name, String(value));
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}
