/**
 * Reads the members of a mapping with their expected types. A member that is absent or null is the zero value of its
 * type, as in Go's encoding/json.
 *
 * @throws Error from every method when a member has another type, with the member's name.
 */
export class Fields {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #where: string;

  /** @param where - Prefix of member names in errors. */
  constructor(value: unknown, where: string) {
    if (typeOf(value) !== "mapping")
      throw new Error(`${where.replace(/[.:\s]+$/, "") || "it"} must be a mapping, not a ${typeOf(value)}`);
    this.#value = value as Readonly<Record<string, unknown>>;
    this.#where = where;
  }

  has(name: string): boolean {
    return this.any(name) !== undefined;
  }

  /** Returns `undefined` also for null. */
  any(name: string): unknown {
    return Object.hasOwn(this.#value, name) ? (this.#value[name] ?? undefined) : undefined;
  }

  text(name: string): string {
    return (this.#expect(name, "string") as string | undefined) ?? "";
  }

  flag(name: string): boolean {
    return (this.#expect(name, "boolean") as boolean | undefined) ?? false;
  }

  /** Returns the decoded text. Go's decoder ignores line breaks, and no other characters. */
  base64(name: string): string {
    const encoded = this.text(name).replaceAll(/[\r\n]/g, "");
    const wrong = /^[A-Za-z0-9+/]*={0,2}$/.test(encoded) ? encoded.length % 4 : 1;
    if (wrong > 0) {
      const at = encoded.search(/[^A-Za-z0-9+/]/);
      throw new Error(`${this.#where}${name}: illegal base64 data at input byte ${at < 0 ? encoded.length : at}`);
    }
    return Buffer.from(encoded, "base64").toString("utf8");
  }

  texts(name: string): readonly string[] {
    const list = (this.#expect(name, "list") as unknown[] | undefined) ?? [];
    for (const [index, item] of list.entries()) this.#check(`${name}[${index}]`, item, "string");
    return list as string[];
  }

  textsByName(name: string): Readonly<Record<string, readonly string[]>> {
    const lists = this.fields(name);
    return Object.fromEntries(Object.keys(lists.#value).map((key) => [key, lists.texts(key)]));
  }

  list(name: string): readonly Fields[] {
    const list = (this.#expect(name, "list") as unknown[] | undefined) ?? [];
    return list.map((item, index) => new Fields(item ?? {}, `${this.#where}${name}[${index}].`));
  }

  /** @param where - Prefix of the nested mapping's member names in errors. Default: the path to them. */
  fields(name: string, where = `${this.#where}${name}.`): Fields {
    return new Fields(this.any(name) ?? {}, where);
  }

  #expect(name: string, type: string): unknown {
    const value = this.any(name);
    if (value !== undefined) this.#check(name, value, type);
    return value;
  }

  #check(name: string, value: unknown, type: string): void {
    if (typeOf(value) !== type) throw new Error(`${this.#where}${name} must be a ${type}, not a ${typeOf(value)}`);
  }
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "object" ? "mapping" : typeof value;
}
