/**
 * Names in the written module. The naming rule:
 *
 * - An object has its kind (`Certificate`), a resource definition its plural in camel case (`certificates`).
 * - In versions other than the storage version, the version follows: `CertificateV1alpha1`, `certificatesV1alpha1`.
 * - An object within another one has the name of the outer one and of the field: `CertificateSpecPrivateKey`.
 * - A name that is taken gets a number: `Record2`.
 */
export class TypeNames {
  /** Names that the module imports or uses. */
  readonly #taken = new Set(["KubernetesObject", "Record", "UnstructuredObject", "defineResource"]);

  /** Returns the name if it is free, and otherwise the first free one with a number. */
  take(name: string): string {
    let free = name;
    for (let number = 2; this.#taken.has(free); number++) free = `${name}${number}`;
    this.#taken.add(free);
    return free;
  }
}

/** `private-key` becomes `PrivateKey`. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("") || "Field";
}

/** The plural in the case of the kind: `httproutes` of the kind `HTTPRoute` become `httpRoutes`. */
export function camelCasePlural(plural: string, kind: string): string {
  let shared = 0;
  while (shared < kind.length && kind[shared]!.toLowerCase() === plural[shared]) shared++;
  const name = `${kind.slice(0, shared)}${plural.slice(shared)}`;
  const isInitialism = /^[A-Z][A-Z0-9]/.test(name);
  // The last upper-case letter of an initialism begins the next word, unless lower-case letters are the plural's own.
  const lowered = isInitialism
    ? name.replace(/^[A-Z0-9]+/, (initials) =>
        initials.length >= shared ? initials.toLowerCase() : initials.slice(0, -1).toLowerCase() + initials.slice(-1),
      )
    : name[0]!.toLowerCase() + name.slice(1);
  const identifier = lowered.replaceAll(/[^A-Za-z0-9]+([A-Za-z0-9]?)/g, (_, next: string) => next.toUpperCase());
  return RESERVED.has(identifier) || /^\d/.test(identifier) ? `_${identifier}` : identifier;
}

const RESERVED: ReadonlySet<string> = new Set(
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield".split(
    " ",
  ),
);
