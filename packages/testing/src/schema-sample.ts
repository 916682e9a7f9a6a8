import type { Random } from "@kubewright/clock";

/** A structural schema of a CustomResourceDefinition, with the keywords that samples depend on. */
export interface SampledSchema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SampledSchema>>;
  readonly additionalProperties?: SampledSchema | boolean;
  readonly items?: SampledSchema;
  readonly allOf?: readonly SampledSchema[];
  readonly anyOf?: readonly SampledSchema[];
  readonly oneOf?: readonly SampledSchema[];
  readonly not?: SampledSchema;
  readonly [extension: `x-kubernetes-${string}`]: unknown;
}

/** Share of optional fields that a sample contains. */
const OPTIONAL_SHARE = 0.6;
const NULL_SHARE = 0.2;
const MAX_MORE_ITEMS = 2;

/**
 * Draws a JSON value that matches a structural schema, from a seeded source. Values of different fields differ, so that
 * a conversion cannot exchange fields unnoticed. Fields with a default are always present, as the API server sets them.
 *
 * Limits: it does not evaluate CEL rules, and chooses strings for a pattern from common formats. A required string
 * without a match is any text.
 */
export class SchemaSampler {
  readonly #random: Random;
  /** Makes texts and numbers different. */
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** @param name - Name of the field, which texts begin with. */
  sample(schema: SampledSchema, name: string): unknown {
    const chosen = this.#withAlternatives(schema);
    if (chosen.nullable === true && this.#random.next() < NULL_SHARE) return null;
    if (chosen.enum !== undefined) return this.#oneOf(chosen.enum);
    if (chosen["x-kubernetes-int-or-string"] === true)
      return this.#random.next() < 0.5 ? this.#integer(chosen) : this.#text(chosen, name);
    switch (chosen.type) {
      case "object":
        return this.#object(chosen);
      case "array":
        return this.#list(chosen, name);
      case "string":
        return this.#text(chosen, name);
      case "integer":
        return this.#integer(chosen);
      case "number":
        return this.#integer(chosen) + (chosen.multipleOf === undefined && chosen.maximum === undefined ? 0.5 : 0);
      case "boolean":
        return this.#random.next() < 0.5;
      default:
        return this.#text({}, name);
    }
  }

  #oneOf<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random.next() * values.length)]!;
  }

  /** The schema together with one of its alternatives. */
  #withAlternatives(schema: SampledSchema): SampledSchema {
    if (schema["x-kubernetes-int-or-string"] === true) return schema;
    let merged = schema;
    for (const part of schema.allOf ?? []) merged = both(merged, this.#withAlternatives(part));
    for (const parts of [schema.anyOf, schema.oneOf])
      if (parts !== undefined && parts.length > 0) merged = both(merged, this.#withAlternatives(this.#oneOf(parts)));
    return merged;
  }

  #object(schema: SampledSchema): Record<string, unknown> {
    const { properties = {}, additionalProperties: values, required = [], not } = schema;
    const excluded = new Set((not?.anyOf ?? (not === undefined ? [] : [not])).flatMap((each) => each.required ?? []));
    const object: Record<string, unknown> = {};
    if (schema["x-kubernetes-embedded-resource"] === true)
      Object.assign(object, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: this.#text({}, "name") } });
    for (const [name, member] of Object.entries(properties)) {
      if (object[name] !== undefined || (excluded.has(name) && !required.includes(name))) continue;
      const isPresent = required.includes(name) || member.default !== undefined;
      if (isPresent || this.#random.next() < OPTIONAL_SHARE) {
        const value = this.sample(member, name);
        if (isPresent || matchesText(member, value)) object[name] = value;
      }
    }
    if (typeof values === "object" || values === true) {
      const count = this.#size(schema.minProperties);
      for (let index = 0; index < count; index++) {
        const name = this.#text({}, "key");
        object[name] = this.sample(values === true ? {} : values, name);
      }
    } else if (schema["x-kubernetes-preserve-unknown-fields"] === true) {
      const name = this.#text({}, "unknown");
      object[name] = this.#text({}, name);
    }
    return object;
  }

  #list({ items = {}, minItems, maxItems = Infinity, ...schema }: SampledSchema, name: string): unknown[] {
    const listed = Array.from({ length: Math.min(this.#size(minItems), maxItems) }, () => this.sample(items, name));
    const type = schema["x-kubernetes-list-type"];
    const keys = schema["x-kubernetes-list-map-keys"] as readonly string[] | undefined;
    if (type !== "set" && type !== "map") return listed;
    const keyOf = (item: unknown): string =>
      JSON.stringify(keys?.map((key) => (item as Record<string, unknown>)[key]) ?? item);
    return listed.filter((item, index) => listed.findIndex((other) => keyOf(other) === keyOf(item)) === index);
  }

  #size(min = 0): number {
    return min + Math.floor(this.#random.next() * (MAX_MORE_ITEMS + 1));
  }

  #integer({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf = 1 }: SampledSchema): number {
    const step = Math.max(1, Math.ceil(multipleOf));
    const min = Math.ceil(
      (minimum ?? (maximum === undefined ? 0 : maximum - 100)) + (exclusiveMinimum === true ? 1 : 0),
    );
    const max = Math.floor((maximum ?? min + 100_000) - (exclusiveMaximum === true ? 1 : 0));
    const first = Math.ceil(min / step) * step;
    return first + Math.floor(this.#random.next() * Math.max(1, (max - first) / step)) * step;
  }

  #text({ format, pattern, minLength = 0, maxLength = Infinity }: SampledSchema, name: string): string {
    const number = ++this.#count;
    const fits = (text: string): string => text.padEnd(minLength, "x").slice(0, maxLength);
    const formatted = format === undefined ? undefined : FORMATS[format]?.(number);
    if (formatted !== undefined && pattern === undefined) return formatted;
    const texts = [...(formatted === undefined ? [] : [formatted]), fits(`${name}-${number}`)];
    if (pattern === undefined) return texts[0]!;
    const expression = compiled(pattern);
    const more = [`${name}${number}`, `${number}`, ...UNITS.map((unit) => `${number}${unit}`)];
    const formats = Object.values(FORMATS).map((each) => each(number));
    const matching = [...texts, ...more.map(fits), ...formats].filter(
      (text) => expression?.test(text) !== false && text.length >= minLength && text.length <= maxLength,
    );
    return matching[0] ?? texts[0]!;
  }
}

const two = (number: number): string => String(number % 60).padStart(2, "0");

/** Texts of formats that Kubernetes checks, and of others that are common in schemas. */
const FORMATS: Readonly<Record<string, (number: number) => string>> = {
  "date-time": (number) => `2026-01-01T00:${two(Math.floor(number / 60))}:${two(number)}Z`,
  date: (number) => `2026-01-${String((number % 28) + 1).padStart(2, "0")}`,
  duration: (number) => `${number}m0s`,
  time: (number) => `12:${two(number)}`,
  byte: (number) => btoa(`text-${number}`),
  email: (number) => `user-${number}@example.com`,
  hostname: (number) => `host-${number}.example.com`,
  ipv4: (number) => `10.0.${Math.floor(number / 250) % 250}.${number % 250}`,
  ipv6: (number) => `fd00::${(number % 65_536).toString(16)}`,
  cidr: (number) => `10.${number % 250}.0.0/16`,
  uri: (number) => `https://example.com/${number}`,
  uuid: (number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
  schedule: (number) => `${number % 60} 3 * * *`,
  image: (number) => `registry.example.com/image:${number}`,
};

const UNITS = ["s", "m", "h", "d", "%", "m0s", "Gi", "Mi", ".0", ".0.0"];

function compiled(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "u");
  } catch {
    // RE2 has syntax that JavaScript lacks, such as (?i).
    return undefined;
  }
}

/** Whether a text matches the schema's pattern, as far as JavaScript can compile it. */
function matchesText({ pattern }: SampledSchema, value: unknown): boolean {
  return pattern === undefined || typeof value !== "string" || compiled(pattern)?.test(value) !== false;
}

/** A schema that both schemas apply to. Structure comes from `base`, and the limits of `part` win. */
function both(base: SampledSchema, part: SampledSchema): SampledSchema {
  const properties: Record<string, SampledSchema> = { ...base.properties };
  for (const [name, member] of Object.entries(part.properties ?? {}))
    properties[name] = both(properties[name] ?? {}, member);
  return {
    ...base,
    ...part,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    required: [...new Set([...(base.required ?? []), ...(part.required ?? [])])],
    ...(base.items === undefined && part.items === undefined
      ? {}
      : { items: both(base.items ?? {}, part.items ?? {}) }),
  };
}
