/** What the form offers to go wrong, and what each takes. */
export const OFFERED = {
  controllerDown: { label: "Controller manager is down", duration: "optional", value: "controller" },
  apiServerDown: { label: "API server is down", duration: "required", value: "none" },
  nodeLost: { label: "A node is lost", duration: "optional", value: "node" },
  suspend: { label: "A user suspends an object", duration: "optional", value: "object" },
  patch: { label: "A user edits an object", duration: "never", value: "edit" },
} as const;

export type OfferedKind = keyof typeof OFFERED;

/** One entry of a scenario's `happenings`, as far as a form shows it. */
export interface ScenarioEvent {
  readonly at: string;
  readonly for: string;
  /** The key that says what happens: one of `OFFERED`, or another that only the text shows in full. */
  readonly kind: string;
  readonly value: unknown;
}

export function isOffered(kind: string): kind is OfferedKind {
  return Object.hasOwn(OFFERED, kind);
}

/** The object a value is about: `suspend` and `patch` have one. */
export function targetOf(value: unknown): { readonly kind: string; readonly namespace: string; readonly name: string } {
  const { kind = "", namespace = "default", name = "" } = (value ?? {}) as Record<string, unknown>;
  return { kind: String(kind), namespace: String(namespace), name: String(name) };
}

/** What a patch sets, if it is one field of `spec`. */
export function editOf(value: unknown): { readonly field: string; readonly to: string } | undefined {
  const { with: patch } = (value ?? {}) as { with?: { spec?: Record<string, unknown> } };
  const entries = Object.entries(patch?.spec ?? {});
  if (Object.keys(patch ?? {}).length !== 1 || entries.length !== 1) return undefined;
  const [field, to] = entries[0]!;
  return typeof to === "string" || typeof to === "number" || typeof to === "boolean"
    ? { field, to: String(to) }
    : undefined;
}
