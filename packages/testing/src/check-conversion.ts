import { isDeepStrictEqual } from "node:util";

import { type Random, seededRandom } from "@kubewright/clock";

import type { Check } from "./checks.js";
import { SchemaSampler, type SampledSchema } from "./schema-sample.js";

/** A version of a custom resource of `@kubewright/operator`. */
export interface ConvertedVersion {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly openAPIV3Schema: object;
}

/** A conversion webhook of `@kubewright/operator/webhooks`, or an object with the same interface. */
export interface ConversionLike {
  /** The storage version. */
  readonly definition: ConvertedVersion;
  readonly versions: readonly ConvertedVersion[];
  /** Answers a ConversionReview. */
  review(review: unknown): Promise<object>;
}

export interface ConversionCheckOptions {
  /** Random objects of each version. Default 100. */
  readonly samples?: number;
  /** Equal seeds give equal objects. Default 1. */
  readonly seed?: number;
  /**
   * Fields of the storage version that other versions do not express, such as `spec.keep`: the annotation of the
   * conversion webhook keeps them. Default: none.
   */
  readonly unconverted?: readonly string[];
}

/** Most fields that a message names. */
const MAX_NAMED = 10;

/**
 * Checks that conversions lose nothing. Converts random objects of both schemas of each version to the other version and
 * back, as the API server does, and compares them.
 *
 * The check fails for each field of another version that is lost on the way, and for each field of the storage version
 * that the other version does not express. Name those in `unconverted` if the other version has no place for them.
 */
export async function checkConversion(
  conversion: ConversionLike,
  { samples = 100, seed = 1, unconverted = [] }: ConversionCheckOptions = {},
): Promise<Check> {
  const { definition: stored, versions } = conversion;
  const lost = new Map<string, string>();
  for (const version of versions) {
    const random = seededRandom(seed).fork(version.version);
    const trip = new RoundTrip(conversion, stored, version);
    for (const path of await trip.ofStored(samples, random.fork("stored")))
      if (!unconverted.some((known) => path.field === known || path.field.startsWith(`${known}.`)))
        lost.set(`${version.version} ${path.field}`, path.text);
    for (const { field, text } of await trip.ofOther(samples, random.fork("other")))
      lost.set(`${version.version} ${field} back`, text);
  }
  const names = [stored, ...versions].map(({ version }) => version).join(", ");
  const what = `${stored.kind} to be converted between ${names}`;
  if (lost.size === 0) return { pass: true, message: `expected ${what} with loss; no field is lost` };
  const texts = [...lost.values()].sort();
  const more = texts.length > MAX_NAMED ? [`and ${texts.length - MAX_NAMED} more`] : [];
  const hint = `convert these fields, or name those that a version has no place for in unconverted (seed ${seed})`;
  return {
    pass: false,
    message: `expected ${what} without loss:\n${[...texts.slice(0, MAX_NAMED), ...more].map((text) => `  ${text}`).join("\n")}\n${hint}`,
  };
}

interface LostField {
  /** `spec.keep`. */
  readonly field: string;
  readonly text: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Conversions of one version to the storage version and back. */
class RoundTrip {
  readonly #conversion: ConversionLike;
  readonly #stored: ConvertedVersion;
  readonly #other: ConvertedVersion;

  constructor(conversion: ConversionLike, stored: ConvertedVersion, other: ConvertedVersion) {
    this.#conversion = conversion;
    this.#stored = stored;
    this.#other = other;
  }

  /** Fields of the storage version that the other version does not express. */
  ofStored(samples: number, random: Random): Promise<readonly LostField[]> {
    return this.#lost(this.#stored, this.#other, samples, random);
  }

  /** Fields of the other version that the storage version does not express. */
  ofOther(samples: number, random: Random): Promise<readonly LostField[]> {
    return this.#lost(this.#other, this.#stored, samples, random);
  }

  async #lost(
    from: ConvertedVersion,
    to: ConvertedVersion,
    samples: number,
    random: Random,
  ): Promise<readonly LostField[]> {
    const lost = new Map<string, LostField>();
    const sampler = new SchemaSampler(random);
    const way = `${from.version} to ${to.version} and back`;
    for (let index = 0; index < samples; index++) {
      const object = sampleObject(from, sampler);
      let back: JsonObject;
      try {
        const there = await this.#convert(object, to);
        back = await this.#convert(this.#withoutKeptFields(there), from);
      } catch (error) {
        const text = `${way} fails: ${(error as Error).message}, for ${JSON.stringify(dataOf(object))}`;
        lost.set("", { field: "", text });
        break;
      }
      for (const { path, before, after } of differences(dataOf(object), dataOf(back))) {
        const field = path.join(".").replaceAll(".[]", "[]");
        if (!lost.has(field))
          lost.set(field, { field, text: `${way}: ${field} was ${textOf(before)} and is ${textOf(after)}` });
      }
    }
    return [...lost.values()];
  }

  /** The object without the annotation of the webhook, which keeps what the other version does not express. */
  #withoutKeptFields(object: JsonObject): JsonObject {
    const metadata = object["metadata"] as { annotations?: Readonly<Record<string, string>> };
    const { [`${this.#stored.group}/conversion-data`]: _kept, ...annotations } = metadata.annotations ?? {};
    return { ...object, metadata: { ...metadata, annotations } };
  }

  async #convert(object: JsonObject, version: ConvertedVersion): Promise<JsonObject> {
    const request = { uid: "check", desiredAPIVersion: apiVersionOf(version), objects: [object] };
    const review = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", request };
    const { response } = (await this.#conversion.review(structuredClone(review))) as {
      response: { result: { status: string; message?: string }; convertedObjects: object[] };
    };
    if (response.result.status !== "Success") throw new Error(response.result.message ?? "no reason");
    // As over the network: without fields that are undefined.
    return JSON.parse(JSON.stringify(response.convertedObjects[0])) as JsonObject;
  }
}

function apiVersionOf({ group, version }: ConvertedVersion): string {
  return `${group}/${version}`;
}

function sampleObject(version: ConvertedVersion, sampler: SchemaSampler): JsonObject {
  const sampled = sampler.sample(version.openAPIV3Schema as SampledSchema, version.kind) as JsonObject;
  return { ...sampled, apiVersion: apiVersionOf(version), kind: version.kind, metadata: { name: "sample" } };
}

function dataOf({ apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...data }: JsonObject): JsonObject {
  return data;
}

interface Difference {
  readonly path: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

/** The innermost fields that differ. Items of lists are compared by position. */
function differences(before: unknown, after: unknown, path: readonly string[] = []): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, index) => differences(item, after[index], [...path, "[]"]));
  if (isObject(before) && isObject(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      differences(before[name], after[name], [...path, name]),
    );
  return [{ path, before, after }];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}
