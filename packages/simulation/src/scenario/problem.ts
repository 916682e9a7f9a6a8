/** Where something stands in a document: keys and positions, from the top. */
export type Path = readonly (string | number)[];

/** Something wrong with a scenario, and where. */
export interface Problem {
  readonly path: Path;
  /** Whether the place is the field's name, rather than its value. */
  readonly atKey?: boolean;
  readonly message: string;
}

/** `happenings[2].patch.kind` */
export function pathText(path: Path): string {
  return path.map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`)).join("");
}
