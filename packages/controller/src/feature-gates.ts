/** Reports invalid feature gate settings, with upstream's message. */
export class FeatureGateError extends Error {
  override readonly name = "FeatureGateError";
}

export interface FeatureGate {
  readonly name: string;
  readonly stage: "ALPHA" | "BETA" | "GA" | "DEPRECATED";
  readonly default: boolean;
  /** The gate can only be set to its default. */
  readonly locked?: boolean;
  readonly dependsOn?: readonly string[];
  /**
   * Setting the gate changes the behaviour of this program. Other gates are accepted, so that the command line of a
   * real cluster works.
   */
  readonly hasEffect?: boolean;
}

export interface FeatureGateWarning {
  readonly message: string;
  readonly featureGate: string;
  readonly value: boolean;
}

export interface FeatureGateSettings {
  /** State of every known gate. */
  readonly enabled: ReadonlyMap<string, boolean>;
  readonly warnings: readonly FeatureGateWarning[];
}

const ALL_OF_STAGE: ReadonlyMap<string, FeatureGate["stage"]> = new Map([
  ["AllAlpha", "ALPHA"],
  ["AllBeta", "BETA"],
]);

/**
 * Resolves the value of `--feature-gates`.
 *
 * @param items - `Name=bool` each, or `kube:Name=bool` for all of them. The last item for a gate wins.
 * @param gates - The known gates.
 * @throws FeatureGateError with upstream's message.
 * @see kubernetes v1.36 staging/src/k8s.io/component-base/featuregate/feature_gate.go SetFromMap
 */
export function resolveFeatureGates(items: readonly string[], gates: readonly FeatureGate[]): FeatureGateSettings {
  const byName = new Map(gates.map((gate) => [gate.name, gate]));
  const given = parseItems(items);
  for (const [name, value] of given) {
    const gate = byName.get(name);
    if (gate === undefined && !ALL_OF_STAGE.has(name)) throw new FeatureGateError(`unrecognized feature gate: ${name}`);
    if (gate?.locked === true && value !== gate.default)
      throw new FeatureGateError(`cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`);
  }
  const enabled = new Map<string, boolean>();
  for (const { name, stage, default: byDefault } of gates) {
    const all = [...ALL_OF_STAGE].find(([key, of]) => of === stage && given.has(key))?.[0];
    enabled.set(name, given.get(name) ?? (all === undefined ? byDefault : given.get(all)!));
  }
  for (const { name, dependsOn = [] } of gates) {
    const missing = dependsOn.filter((other) => enabled.get(other) !== true);
    if (enabled.get(name) === true && missing.length > 0)
      throw new FeatureGateError(
        `${name} is enabled, but depends on features that are disabled: [${missing.join(" ")}]`,
      );
  }
  return { enabled, warnings: [...given].flatMap(([name, value]) => warningsOf(byName.get(name), value)) };
}

function parseItems(items: readonly string[]): ReadonlyMap<string, boolean> {
  const given = new Map<string, boolean>();
  const prefixes = new Set<string>();
  for (const item of items.filter((each) => each.trim() !== "")) {
    const separator = item.indexOf("=");
    const full = (separator < 0 ? item : item.slice(0, separator)).trim();
    const [prefix, name] = full.includes(":") ? full.split(":", 2) : ["", full];
    if (prefix !== "" && prefix !== "kube") throw new FeatureGateError(`component not registered: ${prefix}`);
    prefixes.add(prefix);
    if (prefixes.size > 1) {
      throw new FeatureGateError(
        "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use",
      );
    }
    if (separator < 0) throw new FeatureGateError(`missing bool value for ${name}`);
    const text = item.slice(separator + 1).trim();
    given.set(name!, parseBool(name!, text));
  }
  return given;
}

/** Same as Go's `strconv.ParseBool`. */
function parseBool(name: string, text: string): boolean {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(text)) return true;
  if (["0", "f", "F", "FALSE", "false", "False"].includes(text)) return false;
  throw new FeatureGateError(
    `invalid value of ${name}=${text}, err: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

function warningsOf(gate: FeatureGate | undefined, value: boolean): FeatureGateWarning[] {
  if (gate === undefined) return [];
  const fields = { featureGate: gate.name, value };
  if (gate.locked === true || gate.stage === "GA") {
    return [{ ...fields, message: "Warning: setting GA feature gate. It will be removed in a future release." }];
  }
  if (gate.stage === "DEPRECATED") {
    return [
      { ...fields, message: "Warning: setting deprecated feature gate. It will be removed in a future release." },
    ];
  }
  if (gate.hasEffect === true || value === gate.default) return [];
  return [{ ...fields, message: "Warning: setting this feature gate has no effect in this binary" }];
}
