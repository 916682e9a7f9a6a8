/** Fields, list items and map values from the root of an object: `spec.volumes[].name`. */
export type SchemaPath = readonly string[];

/** Path step into every item of a list, or every value of a map. */
export const EACH = "[]";

/** Something in a schema that a CustomResourceDefinition cannot express. */
export interface SchemaProblem {
  /** `spec.volumes[].name`; empty: the schema as a whole. */
  readonly path: string;
  /** The problem, and an alternative. */
  readonly text: string;
}

/**
 * A custom resource that no API server would accept with the intended meaning. The message has one clause for each
 * problem.
 */
export class CustomResourceError extends Error {
  override readonly name = "CustomResourceError";

  constructor(
    kind: string,
    readonly problems: readonly SchemaProblem[],
  ) {
    super(`${kind}: ${problems.map(({ path, text }) => (path === "" ? text : `${path} ${text}`)).join("; ")}`);
  }
}

/** Collects the problems of a schema, so that all of them are reported together. */
export class Problems {
  readonly #found: SchemaProblem[] = [];

  add(path: SchemaPath, text: string): void {
    const problem = { path: pathText(path), text };
    if (!this.#found.some((other) => other.path === problem.path && other.text === text)) this.#found.push(problem);
  }

  /** @throws CustomResourceError when there are problems. */
  throwIfAny(kind: string): void {
    if (this.#found.length > 0) throw new CustomResourceError(kind, this.#found);
  }
}

function pathText(path: SchemaPath): string {
  let text = "";
  for (const step of path) text += step === EACH || text === "" ? step : `.${step}`;
  return text;
}
