import type { Type } from "./types.js";

/** The bounds of a size or a cost. `max` is `Infinity` when there is no upper bound. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The properties of an argument that a call's cost depends on. */
export interface Sized {
  readonly type: Type;
  readonly size: Range;
  /** The items of a list. */
  readonly item?: Sized | undefined;
  /** The value of an integer literal. */
  readonly constant?: number | undefined;
}

export interface CallCost {
  readonly cost: Range;
  /** The size of the result, if known. */
  readonly size?: Range | undefined;
}

/**
 * Computes the cost of a call from the sizes of its arguments, the receiver first.
 *
 * The estimator calls the model with ranges, and the evaluator calls the same model with exact sizes. Upstream:
 * `EstimateCallCost` of cel-go's `checker/cost.go` and of apiserver's `cel/library/cost.go`.
 */
export type CostModel = (args: readonly Sized[]) => CallCost;

/** Cost units: per character of text, per character of a regular expression, per new list and per new map. */
const TRAVERSAL = 0.1;
const REGEX = 0.25;
export const LIST_COST = 10;
export const MAP_COST = 30;

export const UNBOUNDED: Range = { min: 0, max: Infinity };
export const ONE: Range = { min: 1, max: 1 };
export const ZERO: Range = { min: 0, max: 0 };

export function exactly(count: number): Range {
  return { min: count, max: count };
}

export function plus(a: Range, b: Range): Range {
  return { min: a.min + b.min, max: a.max + b.max };
}

export function times(a: Range, b: Range): Range {
  return { min: product(a.min, b.min), max: product(a.max, b.max) };
}

export function union(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

/** Multiplies two sizes. Zero times infinity is zero. */
export function product(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}

function scaled(size: Range, factor: number): Range {
  return { min: Math.ceil(size.min * factor), max: Math.ceil(product(size.max, factor)) };
}

/** The cost of reading a text once. */
export function traversal(size: Range): Range {
  return scaled(size, TRAVERSAL);
}

export const constantCost: CostModel = () => ({ cost: ONE });

/** The cost of reading the argument at `index`. With `keepsSize`, the result has the size of that argument. */
export function traversalCost(index: number, keepsSize = false): CostModel {
  return (args) => {
    const { size } = args[index]!;
    return { cost: traversal(size), size: keepsSize ? size : undefined };
  };
}

/** The cost of an equality or order comparison: one traversal of the shorter operand. */
export const comparisonCost: CostModel = ([left, right]) => {
  const shortest = Math.min(left!.size.max, right!.size.max);
  return { cost: traversal({ min: shortest > 0 ? 1 : 0, max: shortest }) };
};

export const concatenationCost: CostModel = ([left, right]) => {
  const size = plus(left!.size, right!.size);
  return { cost: traversal(size), size };
};

export const listConcatenationCost: CostModel = ([left, right]) => ({ cost: ONE, size: plus(left!.size, right!.size) });

export const matchCost: CostModel = ([text, regex]) => ({
  cost: times(traversal(plus(text!.size, ONE)), scaled(regex!.size, REGEX)),
});

export const containsCost: CostModel = ([text, part]) => ({
  cost: times(traversal(text!.size), traversal(part!.size)),
});

export const linearCost =
  (index: number): CostModel =>
  (args) => ({ cost: args[index]!.size });

/** The cost of comparing one value with each item: 1 for each item, plus the traversal of text items. */
export const itemsCost: CostModel = ([list]) => {
  if (list!.type.kind !== "list") return { cost: traversal(list!.size) };
  const { item } = list!;
  const isText = item !== undefined && (item.type.kind === "string" || item.type.kind === "bytes");
  return { cost: times(list!.size, isText ? plus(ONE, traversal(item.size)) : ONE) };
};

export const pairwiseCost: CostModel = ([left, right]) => ({ cost: times(left!.size, right!.size) });

export const splitCost: CostModel = (args) => {
  const { size } = args[0]!;
  const limit = args[2]?.constant;
  return {
    cost: scaled(size, 2 * TRAVERSAL),
    size: { min: 0, max: limit === undefined || limit < 0 ? size.max : Math.min(limit, size.max) },
  };
};

export const joinCost: CostModel = ([list, separator]) => {
  const item = list!.item?.size ?? UNBOUNDED;
  const between: Range = { min: Math.max(0, list!.size.min - 1), max: Math.max(0, list!.size.max - 1) };
  const size = plus(times(item, list!.size), separator === undefined ? ZERO : times(separator.size, between));
  return { cost: traversal(size), size };
};

export const replaceCost: CostModel = ([text, old, replacement]) => {
  const { size } = text!;
  const maxSize = ((): number => {
    const shortest = old!.size.min;
    if (shortest === 0) return product(size.max + 1, replacement!.size.max) + size.max;
    if (replacement!.size.max <= shortest) return size.max;
    return product(Math.ceil(size.max / shortest), replacement!.size.max);
  })();
  const minSize = ((): number => {
    const longest = old!.size.max;
    if (longest === 0) return product(size.min + 1, replacement!.size.min) + size.min;
    if (longest <= replacement!.size.min) return size.min;
    return product(Math.ceil(size.min / longest), replacement!.size.min);
  })();
  return { cost: scaled(size, 2 * TRAVERSAL), size: { min: minSize, max: maxSize } };
};

export const findCost: CostModel = (args) => {
  const { size } = args[0]!;
  return {
    cost: times(traversal(plus(size, ONE)), scaled(args[1]!.size, REGEX)),
    size: { min: 0, max: args[2]?.constant ?? size.max },
  };
};

/** The maximum length of the regular expressions that check named formats. */
const MAX_FORMAT_REGEX_LENGTH = 128;

export const formatValidationCost: CostModel = ([, text]) => ({
  cost: scaled(traversal(text!.size), MAX_FORMAT_REGEX_LENGTH * REGEX),
});

export const formatCost: CostModel = ([text]) => ({ cost: traversal(text!.size) });

export const toBytesCost: CostModel = ([text]) => ({
  cost: traversal(text!.size),
  size: { min: text!.size.min, max: product(text!.size.max, 4) },
});

export const fromBytesCost: CostModel = ([bytes]) => ({
  cost: traversal(bytes!.size),
  size: { min: Math.floor(bytes!.size.min / 4), max: bytes!.size.max },
});

/** 1, plus the cost of parsing the address when it is a string. */
export const addressArgumentCost: CostModel = ([, address]) => ({
  cost: address!.type.kind === "string" ? plus(ONE, traversal(address!.size)) : ONE,
});

/** The cost of a new list with at most as many items. */
export const sublistCost: CostModel = ([list]) => ({
  cost: plus(exactly(LIST_COST), list!.size),
  size: { min: 0, max: list!.size.max },
});

/** The cost of comparing all items of a list with each other. */
export const allPairsCost: CostModel = ([list]) => ({
  cost: plus(exactly(LIST_COST), times(list!.size, list!.size)),
  size: { min: 0, max: list!.size.max },
});
