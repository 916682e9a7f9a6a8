import { QUANTITY_FORMAT_ERROR, canonicalQuantity, formatTime } from "@kubewright/api";

import { parseGoTime } from "./go-time.js";
import { ReportedPaths } from "../message-limit.js";
import { copyMembers, definedMembers, setMember } from "../json.js";
import { MAX_NESTING, TOO_DEEP } from "../nesting.js";
import { MEMBER_BYTES, OBJECT_BYTES, sizeOf, stringBytes } from "../storage/object-size.js";
import type { FieldSchema, FieldOrderHint, ObjectSchema, ScalarType, Schema } from "./schema.js";

/** The data does not match the type. The message is that of Go's decoder. */
export class DecodeError extends Error {
  override readonly name = "DecodeError";

  constructor(
    message: string,
    /**
     * Message of Go's converter of unstructured data, which upstream uses for strategic merge patches instead of the
     * decoder.
     */
    readonly conversion = message,
  ) {
    super(message);
  }
}

const MAX_UNKNOWN_FIELDS = 100;
const PARTIALLY_SHARED: ReadonlySet<string> = new Set(["metadata", "status"]);

/** Additional results of {@link decode}. */
export interface DecodeFindings {
  /** Paths of undeclared members that were dropped: `spec.containers[0].foo`. At most 100. */
  readonly unknownFields: string[];
  /** Approximate bytes of the parts of the result that are not shared. */
  size: number;
}

export function noFindings(): DecodeFindings {
  return { unknownFields: [], size: 0 };
}

/**
 * Returns a deep copy of JSON data in the API's form. Drops undeclared members, distinguishes absent and zero values as
 * Go does, and writes times and quantities in canonical form. The copy shares nothing with the data, except parts that
 * `known` contains too.
 *
 * @param known - An earlier, immutable result for the same schema, such as the stored version. Members of the data that
 * are the same objects as in `known` are reused. So an update costs only what it changes. Within `metadata` and
 * `status` this also applies to nested members. A `spec` is reused as a whole or not at all, because defaulting may
 * change any part of a changed one. The object itself and its `metadata` are always new.
 * @param isOwned - Whether only the caller uses the data, apart from parts of `known`. Then the object itself, its
 * `metadata` and its `status` are changed in place.
 * @throws DecodeError when a value does not have the schema's type.
 */
export function decode(
  schema: ObjectSchema,
  value: unknown,
  findings?: DecodeFindings,
  known?: object,
  isOwned = false,
): Record<string, unknown> {
  const decoder = new Decoder(isOwned);
  const result = decoder.object(schema, value, undefined, known);
  if (findings !== undefined) decoder.report(findings);
  if (known !== undefined) {
    const { metadata } = result;
    if (isRecord(metadata) && metadata === (known as Record<string, unknown>)["metadata"])
      result["metadata"] = copyMembers(metadata);
  }
  return result;
}

class Decoder {
  /** Names and indexes from the root to the current object, without map keys. */
  readonly #path: (string | number)[] = [];
  /**
   * Keys of the maps around the current object, each with its index in the path. Paths of unknown fields include them.
   */
  readonly #keys: (readonly [number, string])[] = [];
  /** Number of maps around the current object. */
  #maps = 0;
  #unknownFields: ReportedPaths | undefined;
  #size = 0;
  /** The last time in canonical form: the times of an object are often equal. */
  #time: string | undefined;

  readonly #isOwned: boolean;
  /** Whether the current value may be changed in place. */
  #inPlace: boolean;

  constructor(isOwned: boolean) {
    this.#isOwned = isOwned;
    this.#inPlace = isOwned;
  }

  /** Returns the path with map keys. */
  #wholePath(): (string | number)[] {
    const path = [...this.#path];
    for (let index = this.#keys.length - 1; index >= 0; index--)
      path.splice(this.#keys[index]![0], 0, this.#keys[index]![1]);
    return path;
  }

  report(findings: DecodeFindings): void {
    findings.size += this.#size;
    if (this.#unknownFields !== undefined)
      findings.unknownFields.push(...this.#unknownFields.texts.slice(0, MAX_UNKNOWN_FIELDS));
  }

  /**
   * Decodes an object.
   *
   * @param known - An earlier result for this schema: members that are the same object are reused.
   */
  object(
    schema: ObjectSchema,
    value: unknown,
    owner: ObjectSchema | undefined,
    known?: unknown,
  ): Record<string, unknown> {
    if (!isRecord(value)) throw this.#mismatch(value, owner, undefined, `v1.${schema.name}`);
    const before = isRecord(known) ? known : undefined;
    // Most data is already in the API's form. Copying all members at once and then replacing the decoded ones is the
    // fastest way.
    let result: Record<string, unknown> = this.#inPlace ? value : Object.assign({}, value);
    let isComplete = true;
    let previous: FieldOrderHint = schema;
    for (const key in value) {
      const member = value[key];
      // Members usually come in the same order as in the previous object.
      let field = previous.next;
      if (field === undefined || field.name !== key) {
        field = schema.fields.get(key);
        previous.next = field;
      }
      let decoded: unknown;
      if (field === undefined) {
        if (schema.preservesUnknown === true) {
          decoded = copyJson(member, this.#levels - 1);
          this.#size += stringBytes(key) + sizeOf(decoded);
        } else {
          this.#path.push(key);
          (this.#unknownFields ??= new ReportedPaths()).add(this.#wholePath());
          this.#path.pop();
        }
        // `Object.assign` does not copy this member.
        if (key === "__proto__") isComplete = false;
      } else {
        previous = field;
        if (member === null) decoded = field.zero === null ? null : undefined;
        else if (member !== undefined) {
          const same = before === undefined ? undefined : before[key];
          // Already decoded.
          if (member === same) continue;
          this.#size += MEMBER_BYTES;
          if (owner !== undefined) decoded = this.#member(schema, field, member, same);
          else {
            const isShared = PARTIALLY_SHARED.has(key);
            this.#inPlace = this.#isOwned && isShared;
            decoded = this.#member(schema, field, member, isShared ? same : undefined);
          }
        }
      }
      if (decoded === undefined) isComplete = false;
      if (decoded !== member) setMember(result, key, decoded);
    }
    this.#size += OBJECT_BYTES;
    if (!isComplete) result = definedMembers(result);
    for (const field of schema.alwaysPresent) {
      if (result[field.name] !== undefined) continue;
      const zero = field.zero;
      result[field.name] =
        zero !== null && typeof zero === "object"
          ? this.object(field.schema as ObjectSchema, { ...zero }, schema)
          : zero;
    }
    return result;
  }

  #member(schema: ObjectSchema, field: FieldSchema, member: unknown, known: unknown): unknown {
    const type = field.schema;
    if (type.type === "scalar") {
      const scalar = this.#scalar(type.scalar, member, schema, field.name);
      return field.dropsZero && (scalar === "" || scalar === 0 || scalar === false) ? undefined : scalar;
    }
    this.#path.push(field.name);
    // Recursive types nest as deep as the data.
    if (this.#levels <= 0) throw new DecodeError(TOO_DEEP);
    const decoded = this.#value(type, member, schema, known);
    this.#path.pop();
    if (field.dropsZero) {
      if (type.type === "list" && (decoded as unknown[]).length === 0) return undefined;
      if (type.type === "map" && isEmpty(decoded as object)) return undefined;
    }
    return decoded;
  }

  /** Remaining nesting levels. */
  get #levels(): number {
    return MAX_NESTING - this.#path.length - this.#maps;
  }

  #value(schema: Schema, value: unknown, owner: ObjectSchema, known?: unknown): unknown {
    if (value === known && typeof value === "object") return value;
    switch (schema.type) {
      case "scalar":
        return this.#scalar(schema.scalar, value, owner, undefined);
      case "object":
        return schema.validatedValues?.has(value as object) === true ? value : this.object(schema, value, owner, known);
      case "any": {
        const copy = copyJson(value, this.#levels);
        this.#size += sizeOf(copy);
        return copy;
      }
      case "list": {
        if (!Array.isArray(value)) throw this.#mismatch(value, owner, undefined, "[]");
        const result: unknown[] = this.#inPlace ? value : [];
        const before = Array.isArray(known) ? (known as readonly unknown[]) : undefined;
        this.#size += OBJECT_BYTES + value.length * MEMBER_BYTES;
        for (let index = 0; index < value.length; index++) {
          this.#path.push(index);
          const item: unknown = value[index];
          const decoded =
            item === null ? zeroOf(schema.item, this, owner) : this.#value(schema.item, item, owner, before?.[index]);
          if (!this.#inPlace) result.push(decoded);
          else if (decoded !== item) result[index] = decoded;
          this.#path.pop();
        }
        return result;
      }
      case "map": {
        if (!isRecord(value)) throw this.#mismatch(value, owner, undefined, "map[string]");
        const result = this.#inPlace ? value : copyMembers(value);
        this.#maps++;
        this.#size += OBJECT_BYTES;
        for (const key in value) {
          const member = value[key];
          this.#size += MEMBER_BYTES + stringBytes(key);
          // As in Go, errors name the field that contains the map, not the key.
          this.#keys.push([this.#path.length, key]);
          const decoded =
            member === null ? zeroOf(schema.value, this, owner) : this.#value(schema.value, member, owner);
          this.#keys.pop();
          if (decoded !== member) setMember(result, key, decoded);
        }
        this.#maps--;
        return result;
      }
      default:
        return schema satisfies never;
    }
  }

  #scalar(type: ScalarType, value: unknown, owner: ObjectSchema, name: string | undefined): unknown {
    if (typeof value === "string") this.#size += stringBytes(value);
    switch (type) {
      case "string":
        if (typeof value === "string") return value;
        break;
      case "boolean":
        if (typeof value === "boolean") return value;
        break;
      case "int32":
        if (typeof value === "number" && (value | 0) === value) return value;
        break;
      case "int64":
        if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 63) return value;
        break;
      case "double":
        if (typeof value === "number") return value;
        break;
      case "intOrString":
        if (typeof value === "string" || (typeof value === "number" && (value | 0) === value)) return value;
        break;
      case "time":
        if (typeof value === "string") return value === this.#time ? value : this.#decodeTime(value);
        break;
      case "microtime":
        if (typeof value === "string") return decodeMicroTime(value);
        break;
      case "bytes":
        if (typeof value === "string") return decodeBytes(value);
        break;
      case "quantity":
        // Go reads any other value as text.
        return decodeQuantity(typeof value === "string" ? value : typeof value === "number" ? String(value) : "");
      default:
        (type) satisfies never;
    }
    throw this.#mismatch(value, owner, name, GO_TYPES[type] ?? type);
  }

  #decodeTime(text: string): string | undefined {
    const decoded = decodeTime(text);
    if (decoded === text) this.#time = text;
    return decoded;
  }

  #mismatch(value: unknown, owner: ObjectSchema | undefined, name: string | undefined, expected: string): DecodeError {
    const what = Array.isArray(value)
      ? "array"
      : typeof value === "number"
        ? `number ${value}`
        : typeof value === "boolean"
          ? "bool"
          : typeof value;
    const short = typeof value === "number" && (expected === "string" || expected === "bool") ? "number" : what;
    if (owner === undefined)
      return new DecodeError(`json: cannot unmarshal ${short} into Go value of type ${expected}`);
    const path = [...this.#path.filter((part) => typeof part === "string"), ...(name === undefined ? [] : [name])].join(
      ".",
    );
    const shape =
      expected === "[]"
        ? "slice"
        : expected === "map[string]"
          ? "map"
          : expected.startsWith("v1.")
            ? "struct"
            : undefined;
    const given = Array.isArray(value)
      ? "slice"
      : typeof value === "boolean"
        ? "bool"
        : typeof value === "number"
          ? Number.isInteger(value)
            ? "int64"
            : "float64"
          : typeof value;
    const conversion =
      shape === undefined ? `cannot convert ${given} to ${expected}` : `cannot restore ${shape} from ${given}`;
    return new DecodeError(
      `json: cannot unmarshal ${short} into Go struct field ${owner.name}.${path} of type ${expected}`,
      conversion,
    );
  }
}

function zeroOf(schema: Schema, decoder: Decoder, owner: ObjectSchema): unknown {
  if (schema.type === "object") return decoder.object(schema, {}, owner);
  if (schema.type !== "scalar") return null;
  switch (schema.scalar) {
    case "string":
    case "bytes":
      return "";
    case "boolean":
      return false;
    case "quantity":
      return "0";
    default:
      return 0;
  }
}

/** Go's type names where they differ. Times are decoded from strings. */
const GO_TYPES: Partial<Record<ScalarType, string>> = { boolean: "bool", time: "string", microtime: "string" };
/** Go's zero time, which means absence. */
const ZERO_TIME_MS = Date.parse("0001-01-01T00:00:00Z");
/** Matches a time in canonical form with a day that every month has. */
const USUAL_TIME = /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

function decodeTime(text: string): string | undefined {
  if (USUAL_TIME.test(text)) return text;
  const parsed = parseGoTime(text, 0);
  if ("error" in parsed) throw new DecodeError(parsed.error);
  return parsed.epochMs === ZERO_TIME_MS ? undefined : formatTime(parsed.epochMs);
}

/** Matches a micro-time in canonical form: Leases are renewed often. */
const USUAL_MICRO_TIME =
  /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/;

function decodeMicroTime(text: string): string {
  if (USUAL_MICRO_TIME.test(text)) return text;
  const parsed = parseGoTime(text, 6);
  if ("error" in parsed) throw new DecodeError(parsed.error);
  return `${formatTime(parsed.epochMs).slice(0, -1)}${parsed.fraction}Z`;
}

function decodeBytes(text: string): string {
  const plain = text.replace(/[\r\n]/g, "");
  const bad = /[^A-Za-z0-9+/]/.exec(plain.replace(/={0,2}$/, ""));
  if (bad !== null) throw new DecodeError(`illegal base64 data at input byte ${bad.index}`);
  if (plain.length % 4 !== 0)
    throw new DecodeError(`illegal base64 data at input byte ${plain.length - (plain.length % 4)}`);
  return plain;
}

function decodeQuantity(text: string): string {
  const canonical = canonicalQuantity(text);
  if (canonical === undefined) throw new DecodeError(QUANTITY_FORMAT_ERROR);
  return canonical;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: object): boolean {
  for (const _key in value) return false;
  return true;
}

function copyJson(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels <= 0) throw new DecodeError(TOO_DEEP);
  if (Array.isArray(value)) return value.map((item) => copyJson(item, levels - 1));
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value))
    setMember(result, key, copyJson((value as Record<string, unknown>)[key], levels - 1));
  return result;
}
