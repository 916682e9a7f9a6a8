import type { Type } from "./types.js";

/** A type with the bounds of its values, which the cost estimate uses. Upstream: `cel.DeclType` in apiserver. */
export interface DeclaredType {
  readonly type: Type;
  /** The maximum number of characters, items or entries. */
  readonly max: number;
  /** The number of bytes of a value's shortest JSON. */
  readonly minBytes: number;
  /** The item type of a list or the value type of a map. */
  readonly item?: DeclaredType | undefined;
  readonly fields?: ReadonlyMap<string, DeclaredType> | undefined;
}
