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

/** What is wrong with the items of `--controllers`, in upstream's words. */
export function controllerListErrors(items: readonly string[]): string[] {
  return items
    .filter((item) => item !== "*" && !CANONICAL.has(withoutDash(item)))
    .map((item) => `${JSON.stringify(withoutDash(item))} is not in the list of known controllers`);
}

/** The items of a valid `--controllers` with aliases replaced by the names they stand for. */
export function canonicalControllers(items: readonly string[]): string[] {
  return items.map((item) =>
    item === "*" ? item : `${item.startsWith("-") ? "-" : ""}${CANONICAL.get(withoutDash(item))}`,
  );
}

/**
 * Whether a controller is to run. The first item that names it decides, whatever follows; one that no item names runs when
 * there is a `*` anywhere.
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
  /** Asked for by name, known upstream, but not among those at hand. */
  readonly missing: readonly string[];
}

/**
 * What the items mean for a program that has these controllers. Controllers come in the order of `names`.
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
