import type { Type } from "./types.js";

/**
 * A type with what bounds its values, from which the cost of an expression over them is estimated. Upstream: `cel.DeclType`
 * in apiserver.
 */
export interface DeclaredType {
  readonly type: Type;
  /** Characters, items or entries at the most. */
  readonly max: number;
  /** Bytes of the shortest JSON of a value. */
  readonly minBytes: number;
  /** Items of a list, values of a map. */
  readonly item?: DeclaredType | undefined;
  readonly fields?: ReadonlyMap<string, DeclaredType> | undefined;
}
