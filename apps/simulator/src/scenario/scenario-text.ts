import { type Document, LineCounter, type Node, isAlias, isMap, isScalar, isSeq, parseDocument } from "yaml";

import { UserError } from "../user-error.js";
import { checkNesting, yamlValue } from "../yaml-value.js";

/** Where something stands in a document: keys and positions, from the top. */
export type Path = readonly (string | number)[];

/** Something wrong with a scenario, and where. */
export interface Problem {
  readonly path: Path;
  /** Whether the place is the field's name, rather than its value. */
  readonly atKey?: boolean;
  readonly message: string;
}

/** Problems told at once. */
const MOST_PROBLEMS = 20;

/** The text of a scenario file, with the place of everything in it. */
export class ScenarioText {
  readonly #file: string;
  readonly #document: Document;
  readonly #lines = new LineCounter();

  /** @throws UserError with file, line and column when it is not one YAML document. */
  constructor(text: string, file: string) {
    this.#file = file;
    checkNesting(text, file);
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
    const [problem] = this.#document.errors;
    if (problem === undefined) return;
    const { line, col } = this.#lines.linePos(problem.pos[0]);
    const several =
      problem.code === "MULTIPLE_DOCS" ? "; a scenario is one document, its manifests go into `manifests`" : "";
    throw new UserError(`${file}:${line}:${col}: not YAML: ${problem.message.split("\n")[0]}${several}`);
  }

  /** @throws UserError for aliases that cannot be followed. */
  value(): unknown {
    return yamlValue(this.#document, this.place([]));
  }

  /** `file:line:column` of a value, or of the field's name. What is not there stands where its parent does. */
  place(path: Path, atKey = false): string {
    const { line, col } = this.#lines.linePos(this.#offset(path, atKey));
    return `${this.#file}:${line}:${col}`;
  }

  /** @throws UserError with a line for each problem, in the order of the file. */
  refuse(problems: readonly Problem[]): never {
    const sorted = problems
      .map((problem) => ({ ...problem, offset: this.#offset(problem.path, problem.atKey ?? false) }))
      .sort((a, b) => a.offset - b.offset);
    const lines = new Set(
      sorted.map(({ path, atKey, message }) => {
        const what = path.length === 0 ? "" : `${pathText(path)}: `;
        return `${this.place(path, atKey)}: ${what}${message}`;
      }),
    );
    const told = [...lines].slice(0, MOST_PROBLEMS);
    if (lines.size > told.length) told.push(`${this.#file}: and ${lines.size - told.length} more`);
    throw new UserError(told.join("\n"));
  }

  #offset(path: Path, atKey: boolean): number {
    let node: Node | null = this.#document.contents;
    let offset = node?.range?.[0] ?? 0;
    for (const [depth, step] of path.entries()) {
      if (isAlias(node)) node = node.resolve(this.#document) ?? null;
      let next: unknown;
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
        if (pair === undefined) return offset;
        const key = pair.key as Node;
        if (atKey && depth === path.length - 1) return key.range?.[0] ?? offset;
        next = pair.value;
        offset = key.range?.[0] ?? offset;
      } else if (isSeq(node)) next = node.items[Number(step)];
      if (next === undefined || next === null) return offset;
      node = next as Node;
      offset = node.range?.[0] ?? offset;
    }
    return offset;
  }
}

/** `happenings[2].patch.kind` */
export function pathText(path: Path): string {
  return path.map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`)).join("");
}
