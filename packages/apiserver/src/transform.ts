import type { HeaderFields } from "@kubewright/transport";

/** The shape of objects that the client asked for. */
export interface Transform {
  readonly as: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  /** `v1` or `v1beta1` of meta.k8s.io. */
  readonly version: string;
}

export interface Negotiated {
  readonly mediaType: "application/json" | "application/yaml";
  readonly transform: Transform | undefined;
}

const JSON_PLAIN: Negotiated = { mediaType: "application/json", transform: undefined };

/**
 * Negotiates the response from an `Accept` header: clauses by quality, then in order. Skips a clause whose shape this
 * endpoint does not support. Returns `undefined` when no clause fits (406).
 *
 * @param transforms - Whether Table and PartialObjectMetadata are supported. Never for errors.
 */
export function negotiate(
  accept: HeaderFields[string] | undefined,
  transforms: boolean,
  streaming = false,
): Negotiated | undefined {
  if (accept === undefined || accept === "" || accept === "application/json") return JSON_PLAIN;
  const text = typeof accept === "string" ? accept : accept.join(",");
  for (const clause of clausesOf(text)) {
    const mediaType = MEDIA_TYPES.get(clause.type);
    if (mediaType === undefined || (streaming && mediaType === "application/yaml")) continue;
    const { as, g, v } = clause.parameters;
    if (as === undefined) return { mediaType, transform: undefined };
    if (!transforms || g !== "meta.k8s.io" || (v !== "v1" && v !== "v1beta1")) continue;
    if (as !== "Table" && as !== "PartialObjectMetadata" && as !== "PartialObjectMetadataList") continue;
    return { mediaType, transform: { as, version: v } };
  }
  return undefined;
}

/** Returns the media types of an `Accept` header, best first. */
export function mediaTypesIn(accept: HeaderFields[string] | undefined): readonly string[] {
  if (accept === undefined || accept === "") return ["*/*"];
  return clausesOf(typeof accept === "string" ? accept : accept.join(",")).map(({ type }) => type);
}

/** Whether the header asks for a supported media type in a shape (`as=`). */
export function asksForShape(accept: HeaderFields[string] | undefined): boolean {
  const text = accept === undefined ? "" : typeof accept === "string" ? accept : accept.join(",");
  return clausesOf(text).some(({ type, parameters }) => MEDIA_TYPES.has(type) && parameters["as"] !== undefined);
}

/**
 * Whether a clause asks for the shape, group and version, before the first clause that accepts plain JSON. Returns
 * `undefined` when neither occurs.
 */
export function accepts(
  accept: HeaderFields[string] | undefined,
  wanted: { as: string; g: string; v: string },
): boolean | undefined {
  if (accept === undefined || accept === "") return false;
  for (const clause of clausesOf(typeof accept === "string" ? accept : accept.join(","))) {
    if (MEDIA_TYPES.get(clause.type) === undefined) continue;
    const { as, g, v } = clause.parameters;
    if (as === undefined) return false;
    if (as === wanted.as && g === wanted.g && v === wanted.v) return true;
  }
  return undefined;
}

const MEDIA_TYPES: ReadonlyMap<string, Negotiated["mediaType"]> = new Map([
  ["application/json", "application/json"],
  ["*/*", "application/json"],
  ["application/yaml", "application/yaml"],
]);

interface Clause {
  readonly type: string;
  readonly parameters: Readonly<Partial<Record<string, string>>>;
  readonly quality: number;
}

function clausesOf(accept: string): Clause[] {
  const clauses = accept.split(",").map((text): Clause => {
    const [type = "", ...rest] = text.split(";").map((part) => part.trim());
    const parameters: Partial<Record<string, string>> = Object.create(null) as Partial<Record<string, string>>;
    for (const part of rest) {
      const equals = part.indexOf("=");
      if (equals > 0) parameters[part.slice(0, equals).toLowerCase()] = part.slice(equals + 1).replace(/^"|"$/g, "");
    }
    return { type: type.toLowerCase(), parameters, quality: Number(parameters["q"] ?? 1) };
  });
  return clauses.sort((a, b) => b.quality - a.quality);
}
