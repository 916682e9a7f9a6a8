import type { StatusCause } from "@kubewright/api";

import type { ValidatedValues } from "./schema/validated-values.js";
import { MAX_MESSAGE_CHARACTERS } from "./message-limit.js";

/** One validation error: type, field, value and message. Upstream: `field.Error`. */
export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  /** The invalid value. Only error types with `showsValue` print it. */
  readonly value?: unknown;
  readonly detail: string;
}

export type FieldErrorType = keyof typeof TYPES;

const TYPES = {
  Required: { reason: "FieldValueRequired", text: "Required value", showsValue: false },
  Invalid: { reason: "FieldValueInvalid", text: "Invalid value", showsValue: true },
  NotSupported: { reason: "FieldValueNotSupported", text: "Unsupported value", showsValue: true },
  Duplicate: { reason: "FieldValueDuplicate", text: "Duplicate value", showsValue: true },
  Forbidden: { reason: "FieldValueForbidden", text: "Forbidden", showsValue: false },
  TooLong: { reason: "FieldValueTooLong", text: "Too long", showsValue: false },
  TooMany: { reason: "FieldValueTooMany", text: "Too many", showsValue: true },
  NotFound: { reason: "FieldValueNotFound", text: "Not found", showsValue: true },
  TypeInvalid: { reason: "FieldValueTypeInvalid", text: "Invalid value", showsValue: true },
  InternalError: { reason: "InternalError", text: "Internal error", showsValue: false },
} as const;

/** As a value: the error prints no value, although its type does. Upstream: `field.OmitValueType`. */
export const omittedValue: unique symbol = Symbol("omitted value");

/** Characters counted per error in addition to its own text. */
const CHARACTERS_PER_ERROR = 64;

/** Collects validation errors in order, up to {@link MAX_MESSAGE_CHARACTERS}. Upstream: `field.ErrorList`. */
export class FieldErrors {
  readonly #errors: FieldError[] = [];
  readonly #validatedValues: ValidatedValues | undefined;
  readonly #warnings: string[] = [];
  /** Whether containers may be privileged. */
  readonly allowsPrivileged: boolean;
  #characters = 0;

  /**
   * @param validatedValues - Values that are already validated and no longer change.
   * @param allowsPrivileged - Policy of the server. Default true.
   */
  constructor(validatedValues?: ValidatedValues, allowsPrivileged = true) {
    this.#validatedValues = validatedValues;
    this.allowsPrivileged = allowsPrivileged;
  }

  /** Whether the value needs no validation because it comes unchanged from a stored object. */
  isValidated(value: object): boolean {
    return this.#validatedValues?.has(value) === true;
  }

  get isEmpty(): boolean {
    return this.#errors.length === 0;
  }

  get all(): readonly FieldError[] {
    return this.#errors;
  }

  /** Problems that are accepted. The client receives them as warnings in any case. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  warn(text: string): void {
    if (this.isFull) return;
    this.#characters += text.length;
    this.#warnings.push(text);
  }

  /** Whether the limit is reached: further errors are dropped. */
  get isFull(): boolean {
    return this.#characters > MAX_MESSAGE_CHARACTERS;
  }

  add(error: FieldError): void {
    if (this.isFull) return;
    const { field, detail, value } = error;
    this.#characters += field.length + detail.length + CHARACTERS_PER_ERROR;
    if (typeof value === "string") this.#characters += value.length;
    this.#errors.push(error);
  }

  required(field: string, detail = ""): void {
    this.add({ type: "Required", field, detail });
  }

  invalid(field: string, value: unknown, detail: string): void {
    this.add({ type: "Invalid", field, value, detail });
  }

  notSupported(field: string, value: unknown, supported: readonly string[]): void {
    if (this.isFull) return;
    this.add({
      type: "NotSupported",
      field,
      value,
      detail: `supported values: ${supported.map((text) => JSON.stringify(text)).join(", ")}`,
    });
  }

  duplicate(field: string, value: unknown): void {
    this.add({ type: "Duplicate", field, value, detail: "" });
  }

  forbidden(field: string, detail: string): void {
    this.add({ type: "Forbidden", field, detail });
  }

  tooLong(field: string, maxBytes: number): void {
    this.add({ type: "TooLong", field, detail: `may not be more than ${maxBytes} bytes` });
  }

  tooMany(field: string, count: number, max: number): void {
    this.add({
      type: "TooMany",
      field,
      value: count,
      detail: `must have at most ${max} ${max === 1 ? "item" : "items"}`,
    });
  }

  notFound(field: string, value: unknown): void {
    this.add({ type: "NotFound", field, value, detail: "" });
  }
}

/** Formats the error without its field path: the message of a Status cause. */
export function errorBody({ type, value, detail }: FieldError): string {
  const { text, showsValue } = TYPES[type];
  const shown = showsValue && value !== omittedValue ? `: ${renderValue(value)}` : "";
  return `${text}${shown}${detail === "" ? "" : `: ${detail}`}`;
}

export function errorCause(error: FieldError): StatusCause {
  return { reason: TYPES[error.type].reason, message: errorBody(error), field: error.field };
}

/** Formats `[a, b]`, or `a` for a single error. Errors with equal text appear once. */
export function errorsMessage(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${errorBody(error)}`))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`;
}

function renderValue(value: unknown): string {
  return value === undefined ? "null" : JSON.stringify(value);
}
