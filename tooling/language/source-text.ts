import { parseSync } from "oxc-parser";

/** A piece of prose in a source file, by offsets. */
export interface Prose {
  readonly kind: "comment" | "message";
  readonly start: number;
  readonly end: number;
}

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

/** A string with two spaces or more is read by people; shorter ones are names, keys and values. */
const MESSAGE = /\S \S+ \S/;

/**
 * The prose of a TypeScript or JavaScript source: its comments, and the string literals that people read (messages, titles of tests).
 * Names of modules and single words are left out.
 */
export function proseOf(file: string, source: string): readonly Prose[] {
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const prose: Prose[] = comments.map(({ start, end }) => ({ kind: "comment", start, end }));
  visit(program as unknown as Node);
  return prose.toSorted((a, b) => a.start - b.start);

  function visit(node: Node): void {
    if (node.type === "Literal" && typeof node["value"] === "string") add(node);
    else if (node.type === "TemplateElement") add(node);
    for (const value of Object.values(node)) {
      if (Array.isArray(value)) value.forEach(visitValue);
      else visitValue(value);
    }
  }

  function visitValue(value: unknown): void {
    if (typeof value === "object" && value !== null && typeof (value as Node).type === "string") visit(value as Node);
  }

  function add({ start, end }: Node): void {
    if (MESSAGE.test(source.slice(start, end))) prose.push({ kind: "message", start, end });
  }
}
