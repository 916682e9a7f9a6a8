/** Kinds of events that the form offers, with their fields. */
export const OFFERED = {
  controllerDown: { label: "Controller manager is down", duration: "optional", value: "controller" },
  apiServerDown: { label: "API server is down", duration: "required", value: "none" },
  nodeLost: { label: "A node is lost", duration: "optional", value: "node" },
  suspend: { label: "A user suspends an object", duration: "optional", value: "object" },
  patch: { label: "A user edits an object", duration: "never", value: "edit" },
} as const;

export type OfferedKind = keyof typeof OFFERED;

/** An entry of a scenario's `events`, as far as the form shows it. */
export interface ScenarioEvent {
  readonly at: string;
  readonly for: string;
  /** The key of the event's kind: a key of `OFFERED`, or another one that only the text shows completely. */
  readonly kind: string;
  readonly value: unknown;
}

export function isOffered(kind: string): kind is OfferedKind {
  return Object.hasOwn(OFFERED, kind);
}

/** Returns the object of a `suspend` or `patch` event. */
export function targetOf(value: unknown): { readonly kind: string; readonly namespace: string; readonly name: string } {
  const { kind = "", namespace = "default", name = "" } = (value ?? {}) as Record<string, unknown>;
  return { kind: String(kind), namespace: String(namespace), name: String(name) };
}

/** Returns the field and value of a patch that sets a single field of `spec`. */
export function editOf(value: unknown): { readonly field: string; readonly to: string } | undefined {
  const { with: patch } = (value ?? {}) as { with?: { spec?: Record<string, unknown> } };
  const entries = Object.entries(patch?.spec ?? {});
  if (Object.keys(patch ?? {}).length !== 1 || entries.length !== 1) return undefined;
  const [field, to] = entries[0]!;
  return typeof to === "string" || typeof to === "number" || typeof to === "boolean"
    ? { field, to: String(to) }
    : undefined;
}
