import { type JsonObject, isJsonObject, setMember } from "../json.js";
import { isNestedDeeper } from "../nesting.js";

/**
 * A set of fields of an object, as a tree in the form of managedFields. Edges are `f:name` for a member, `k:{…}` for a
 * list element by its key, and `v:…` for an element of a set. Immutable.
 *
 * Upstream: structured-merge-diff `fieldpath.Set`.
 */
export class FieldSet {
  #json: JsonObject | undefined;

  constructor(
    /** Whether the field itself belongs to the set, not only fields below it. */
    readonly member: boolean,
    readonly children: ReadonlyMap<string, FieldSet>,
  ) {}

  get isEmpty(): boolean {
    return !this.member && this.children.size === 0;
  }

  child(edge: string): FieldSet | undefined {
    return this.children.get(edge);
  }

  /** Returns this set itself when the other adds nothing. */
  union(other: FieldSet): FieldSet {
    if (other === this || other.isEmpty) return this;
    if (this.isEmpty) return other;
    let children: Map<string, FieldSet> | undefined;
    for (const [edge, set] of other.children) {
      const mine = this.children.get(edge);
      const both = mine === undefined ? set : mine.union(set);
      if (both === mine) continue;
      children ??= new Map(this.children);
      children.set(edge, both);
    }
    const member = this.member || other.member;
    return children === undefined && member === this.member ? this : new FieldSet(member, children ?? this.children);
  }

  difference(other: FieldSet): FieldSet {
    if (other.isEmpty || this.isEmpty) return this;
    let children: Map<string, FieldSet> | undefined;
    for (const [edge, set] of other.children) {
      const mine = this.children.get(edge);
      if (mine === undefined) continue;
      const rest = mine.difference(set);
      if (rest === mine) continue;
      children ??= new Map(this.children);
      if (rest.isEmpty) children.delete(edge);
      else children.set(edge, rest);
    }
    const member = this.member && !other.member;
    return children === undefined && member === this.member ? this : new FieldSet(member, children ?? this.children);
  }

  intersection(other: FieldSet): FieldSet {
    const children = new Map<string, FieldSet>();
    for (const [edge, set] of this.children) {
      const theirs = other.children.get(edge);
      if (theirs === undefined) continue;
      const both = set.intersection(theirs);
      if (!both.isEmpty) children.set(edge, both);
    }
    return new FieldSet(this.member && other.member, children);
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.member !== other.member || this.children.size !== other.children.size) return false;
    for (const [edge, set] of this.children) {
      const theirs = other.children.get(edge);
      if (theirs === undefined || !set.equals(theirs)) return false;
    }
    return true;
  }

  /** Returns every field as errors print it: `.spec.containers[name="a"].image`. */
  paths(prefix = ""): string[] {
    const found = this.member && prefix !== "" ? [prefix] : [];
    for (const [edge, set] of this.children) found.push(...set.paths(prefix + edgeText(edge)));
    return found;
  }

  /** Returns the set as `fieldsV1`. The result is cached and shared: do not change it. */
  toJson(): JsonObject {
    return (this.#json ??= this.#makeJson());
  }

  #makeJson(): JsonObject {
    const json: JsonObject = {};
    if (this.member && this.children.size > 0) json["."] = {};
    for (const edge of [...this.children.keys()].sort()) setMember(json, edge, this.children.get(edge)!.toJson());
    return json;
  }

  /** @throws Error when the JSON is no tree of objects, or has an unknown edge. */
  static fromJson(json: unknown): FieldSet {
    return parse(json, true);
  }
}

export const EMPTY_FIELDS = new FieldSet(false, new Map());
/** One field with no fields below it. */
export const LEAF = new FieldSet(true, new Map());

function parse(json: unknown, isRoot: boolean): FieldSet {
  if (!isJsonObject(json)) throw new Error("fieldsV1 is no object");
  const children = new Map<string, FieldSet>();
  let member = false;
  for (const edge of Object.keys(json)) {
    if (edge === ".") member = true;
    else if (/^[fkvi]:/.test(edge)) children.set(edge, parse(json[edge], false));
    else throw new Error(`fieldsV1 has an unknown member ${JSON.stringify(edge)}`);
  }
  return children.size === 0 && !isRoot ? LEAF : new FieldSet(member, children);
}

function edgeText(edge: string): string {
  const content = edge.slice(2);
  switch (edge[0]) {
    case "f":
      return `.${content}`;
    case "k": {
      const keys = JSON.parse(content) as JsonObject;
      // Edges may come from clients in managedFields.
      if (isNestedDeeper(keys)) return `[${content}]`;
      return `[${Object.keys(keys)
        .map((key) => `${key}=${JSON.stringify(keys[key])}`)
        .join(",")}]`;
    }
    case "v":
      return `[=${content}]`;
    default:
      return `[${content}]`;
  }
}
