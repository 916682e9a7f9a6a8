import { deepFreeze, type KubernetesObject, mutableCopy } from "@kubewright/api";

import { type FieldError, FieldErrors, errorCause, errorsMessage } from "../src/field-errors.js";
import type { ResourceStrategy } from "../src/strategy.js";

export const UID = "11111111-1111-4111-8111-111111111111";
export const NOW_MS = Date.UTC(2026, 0, 1);

export interface Outcome<T> {
  /** The object to be stored. */
  readonly object: T;
  /** The error message of the Status; `""` when there are no errors. */
  readonly message: string;
  readonly errors: readonly FieldError[];
  readonly warnings: readonly string[];
}

/** Runs a strategy's methods for a create. */
export function create<T extends KubernetesObject>(
  strategy: ResourceStrategy<T>,
  manifest: object,
  nameGenerated = false,
): Outcome<T> {
  const object = mutableCopy(manifest) as unknown as T;
  object.metadata = { namespace: "default", uid: UID, ...object.metadata };
  strategy.applyDefaults?.(object);
  strategy.prepareForCreate?.(object, { nowMs: NOW_MS, nameGenerated });
  const errors = new FieldErrors();
  strategy.validate?.(object, errors);
  strategy.validateCreate?.(object, errors);
  return outcome(object, errors, strategy.warningsOnCreate?.(object));
}

/** Runs a strategy's methods for an update with a changed copy of the stored object. */
export function update<T extends KubernetesObject>(
  strategy: ResourceStrategy<T>,
  stored: T,
  change: (object: T) => void,
): Outcome<T> {
  deepFreeze(stored);
  const object = mutableCopy(stored) as unknown as T;
  change(object);
  strategy.applyDefaults?.(object);
  strategy.prepareForUpdate?.(object, stored);
  const errors = new FieldErrors();
  strategy.validate?.(object, errors);
  strategy.validateUpdate?.(object, stored, errors);
  return outcome(object, errors, strategy.warningsOnUpdate?.(object, stored));
}

export function updateStatus<T extends KubernetesObject>(
  strategy: ResourceStrategy<T>,
  stored: T,
  change: (object: T) => void,
): Outcome<T> {
  deepFreeze(stored);
  const object = mutableCopy(stored) as unknown as T;
  change(object);
  strategy.applyDefaults?.(object);
  strategy.status?.prepareForUpdate(object, stored);
  const errors = new FieldErrors();
  strategy.status?.validateUpdate?.(object, stored, errors);
  return outcome(object, errors, []);
}

/** Returns the cells of a row by column name. */
export function row<T extends KubernetesObject>(
  strategy: ResourceStrategy<T>,
  object: T,
  nowMs = NOW_MS,
): Record<string, unknown> {
  const printer = strategy.printer!;
  const values = printer.cells(object, nowMs);
  return Object.fromEntries(printer.columns.map(({ name }, index) => [name, values[index]]));
}

export function causes(errors: readonly FieldError[]): string[] {
  return errors.map((error) => {
    const { reason, field, message } = errorCause(error);
    return `${reason} ${field} ${message}`;
  });
}

function outcome<T>(object: T, errors: FieldErrors, warnings: readonly string[] = []): Outcome<T> {
  return { object, message: errors.isEmpty ? "" : errorsMessage(errors.all), errors: errors.all, warnings };
}
