import { knownControllers } from "./known-controllers.js";

const CANONICAL: ReadonlyMap<string, string> = new Map(
  knownControllers.flatMap(({ name, alias }): [string, string][] =>
    alias === undefined
      ? [[name, name]]
      : [
          [name, name],
          [alias, name],
        ],
  ),
);

/** Returns upstream's error messages for the invalid items of `--controllers`. */
export function controllerListErrors(items: readonly string[]): string[] {
  return items
    .filter((item) => item !== "*" && !CANONICAL.has(withoutDash(item)))
    .map((item) => `${JSON.stringify(withoutDash(item))} is not in the list of known controllers`);
}

/** Returns the items of a valid `--controllers` with aliases replaced by controller names. */
export function canonicalControllers(items: readonly string[]): string[] {
  return items.map((item) =>
    item === "*" ? item : `${item.startsWith("-") ? "-" : ""}${CANONICAL.get(withoutDash(item))}`,
  );
}

/**
 * Returns whether a controller is enabled. The first item that names the controller decides. A controller that no item
 * names is enabled if the list contains `*`.
 *
 * @param items - From {@link canonicalControllers}.
 * @see kubernetes v1.36 staging/src/k8s.io/controller-manager/app/helper.go IsControllerEnabled
 */
export function isControllerEnabled(name: string, items: readonly string[]): boolean {
  const first = items.find((item) => item === name || item === `-${name}`);
  return first === undefined ? items.includes("*") : first === name;
}

export interface ControllerSelection<Name extends string> {
  readonly enabled: readonly Name[];
  readonly disabled: readonly Name[];
  /** Controllers that are requested by name and known upstream, but not available in this program. */
  readonly missing: readonly string[];
}

/**
 * Splits the controllers of a program into enabled, disabled and missing ones. The results keep the order of `names`.
 *
 * @param items - From {@link canonicalControllers}.
 */
export function selectControllers<Name extends string>(
  names: readonly Name[],
  items: readonly string[],
): ControllerSelection<Name> {
  return {
    enabled: names.filter((name) => isControllerEnabled(name, items)),
    disabled: names.filter((name) => !isControllerEnabled(name, items)),
    missing: [...new Set(items)].filter(
      (item) =>
        item !== "*" &&
        !item.startsWith("-") &&
        isControllerEnabled(item, items) &&
        !names.some((name) => name === item),
    ),
  };
}

function withoutDash(item: string): string {
  return item.startsWith("-") ? item.slice(1) : item;
}
