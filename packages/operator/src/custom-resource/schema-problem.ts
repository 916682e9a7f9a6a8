/** Members, list items and values of maps from the root of an object: `spec.volumes[].name`. */
export type SchemaPath = readonly string[];

/** What a step into every item of a list, or every value of a map, is called. */
export const EACH = "[]";

/** Something in a schema that a CustomResourceDefinition has no words for. */
export interface SchemaProblem {
  /** `spec.volumes[].name`; empty: of the schema as a whole. */
  readonly path: string;
  /** What cannot be said, and what to write instead. */
  readonly text: string;
}

/** A custom resource that no API server would take as it is meant. Its message has a clause for each problem. */
export class CustomResourceError extends Error {
  override readonly name = "CustomResourceError";

  constructor(
    kind: string,
    readonly problems: readonly SchemaProblem[],
  ) {
    super(`${kind}: ${problems.map(({ path, text }) => (path === "" ? text : `${path} ${text}`)).join("; ")}`);
  }
}

/** Collects what is wrong while a schema is read, so that all of it is told at once. */
export class Problems {
  readonly #found: SchemaProblem[] = [];

  add(path: SchemaPath, text: string): void {
    const problem = { path: pathText(path), text };
    if (!this.#found.some((other) => other.path === problem.path && other.text === text)) this.#found.push(problem);
  }

  /** @throws CustomResourceError when something is wrong. */
  throwIfAny(kind: string): void {
    if (this.#found.length > 0) throw new CustomResourceError(kind, this.#found);
  }
}

function pathText(path: SchemaPath): string {
  let text = "";
  for (const step of path) text += step === EACH || text === "" ? step : `.${step}`;
  return text;
}
