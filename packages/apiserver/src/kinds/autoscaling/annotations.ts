import { canonicalQuantity } from "@kubewright/api";

import { type JsonObject, isJsonObject } from "../../json.js";

/** Thrown and caught in this file: a client may write any text into the annotation. */
class UnreadableAnnotation extends Error {
  override readonly name = "Unreadable";
}

/** Parses an annotation; `undefined` when the annotation is absent or invalid. */
export function readAnnotation<T>(text: string | undefined, read: (value: unknown) => T): T | undefined {
  if (text === undefined) return undefined;
  try {
    return read(JSON.parse(text));
  } catch (error) {
    if (error instanceof UnreadableAnnotation || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

export function objectOf(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw new UnreadableAnnotation();
  return value;
}

export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnreadableAnnotation();
  return value;
}

export function textOf(value: unknown): string {
  if (typeof value !== "string") throw new UnreadableAnnotation();
  return value;
}

export function numberOf(value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value)) throw new UnreadableAnnotation();
  return value;
}

export function quantityOf(value: unknown): string {
  const text = typeof value === "number" ? String(value) : textOf(value);
  const quantity = canonicalQuantity(text);
  if (quantity === undefined) throw new UnreadableAnnotation();
  return quantity;
}
