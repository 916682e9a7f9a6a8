/** Location in a document: keys and positions, from the top. */
export type Path = readonly (string | number)[];

/** A problem of a scenario and its location. */
export interface ScenarioProblem {
  readonly path: Path;
  /** Whether the location is the field's name, rather than its value. */
  readonly atKey?: boolean;
  readonly message: string;
}

/** Formats a path: `events[2].patch.kind`. */
export function pathText(path: Path): string {
  return path.map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`)).join("");
}
