import { allPairsCost, itemsCost, pairwiseCost, joinCost, sublistCost } from "./cost.js";
import { type FunctionLibrary, type Overload, global, member } from "./functions.js";
import { UnsignedInteger } from "./syntax.js";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
  listOf,
  optionalOf,
  parameter,
} from "./types.js";
import {
  Duration,
  EvaluationProblem,
  ArrayListValue,
  ListValue,
  Optional,
  type Value,
  checkLength,
  compare,
  equal,
} from "./values.js";

const A = parameter("A");
const LIST_A = listOf(A);
const COMPARABLE: readonly Type[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];

function isSorted(list: ListValue): boolean {
  for (let index = 1; index < list.size; index++) if (compare(list.at(index - 1), list.at(index))! > 0) return false;
  return true;
}

/** Finds the smallest or largest item. `functionName` is used in the error message about an empty list. */
function extremum(functionName: string, isBetter: (order: number) => boolean): Overload[] {
  const call = (list: ListValue): Value => {
    if (list.size === 0) throw new EvaluationProblem(`${functionName} called on empty list`);
    let best = list.at(0);
    for (let index = 1; index < list.size; index++) {
      const item = list.at(index);
      const order = compare(item, best);
      if (order === undefined) throw new EvaluationProblem("no such overload");
      if (isBetter(order)) best = item;
    }
    return best;
  };
  return COMPARABLE.map((type) => member([listOf(type)], type, call, itemsCost));
}

function indexOf(list: ListValue, item: Value): bigint {
  for (let index = 0; index < list.size; index++) if (equal(list.at(index), item)) return BigInt(index);
  return -1n;
}

function lastIndexOf(list: ListValue, item: Value): bigint {
  for (let index = list.size - 1; index >= 0; index--) if (equal(list.at(index), item)) return BigInt(index);
  return -1n;
}

const MAX_INT = 2n ** 63n - 1n;

function total(list: ListValue, countOf: (item: Value) => bigint): bigint {
  let sum = 0n;
  for (const item of list.all()) sum += countOf(item);
  return sum;
}

function intSum(list: ListValue): bigint {
  const sum = total(list, (item) => item as bigint);
  if (sum > MAX_INT || sum < -MAX_INT - 1n) throw new EvaluationProblem("integer overflow");
  return sum;
}

const sums: readonly (readonly [Type, (list: ListValue) => Value])[] = [
  [INT, intSum],
  [UINT, (list) => new UnsignedInteger(total(list, (item) => (item as UnsignedInteger).value))],
  [DOUBLE, (list) => [...list.all()].reduce<number>((sum, item) => sum + (item as number), 0)],
  [DURATION, (list) => new Duration(total(list, (item) => (item as Duration).nanos))],
];

function optionalItem(list: ListValue, index: number): Optional {
  return new Optional(list.size === 0 ? undefined : list.at(index));
}

function slice(list: ListValue, start: bigint, end: bigint): ListValue {
  if (start < 0n || end < 0n)
    throw new EvaluationProblem(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end)
    throw new EvaluationProblem(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (end > BigInt(list.size))
    throw new EvaluationProblem(`cannot slice(${start}, ${end}), list is length ${list.size}`);
  return new ArrayListValue([...list.all()].slice(Number(start), Number(end)));
}

function distinct(list: ListValue): ListValue {
  const unique: Value[] = [];
  for (const item of list.all()) if (!unique.some((each) => equal(each, item))) unique.push(item);
  return new ArrayListValue(unique);
}

function sort(list: ListValue): ListValue {
  return new ArrayListValue(
    [...list.all()].sort((a, b) => {
      const order = compare(a, b);
      if (order === undefined) throw new EvaluationProblem("list elements must have the same type");
      return order;
    }),
  );
}

function flatten(list: ListValue, depth = 1n): ListValue {
  if (depth < 0n) throw new EvaluationProblem("level must be non-negative");
  const flat = (items: Iterable<Value>, remainingDepth: bigint): Value[] =>
    [...items].flatMap((item) =>
      item instanceof ListValue && remainingDepth > 0n ? flat(item.all(), remainingDepth - 1n) : [item],
    );
  return new ArrayListValue(flat(list.all(), depth));
}

function join(list: ListValue, separator = ""): string {
  const texts = [...list.all()].map((item) => item as string);
  checkLength(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
  return texts.join(separator);
}

function containsAll(list: ListValue, others: ListValue): boolean {
  for (const item of others.all()) if (!list.contains(item)) return false;
  return true;
}

function intersects(a: ListValue, b: ListValue): boolean {
  for (const item of a.all()) if (b.contains(item)) return true;
  return false;
}

/** Upstream: apiserver's `cel/library/lists.go`, cel-go `ext/lists.go` and `ext/sets.go`. */
export const listFunctions: FunctionLibrary = {
  isSorted: COMPARABLE.map((type) => member([listOf(type)], BOOL, isSorted, itemsCost)),
  sum: sums.map(([type, call]) => member([listOf(type)], type, call, itemsCost)),
  min: extremum("min", (order) => order < 0),
  max: extremum("max", (order) => order > 0),
  indexOf: [member([LIST_A, A], INT, indexOf, itemsCost)],
  lastIndexOf: [member([LIST_A, A], INT, lastIndexOf, itemsCost)],
  join: [member([listOf(STRING)], STRING, join, joinCost), member([listOf(STRING), STRING], STRING, join, joinCost)],
  slice: [member([LIST_A, INT, INT], LIST_A, slice, sublistCost)],
  distinct: [member([LIST_A], LIST_A, distinct, allPairsCost)],
  sort: COMPARABLE.map((type): Overload => member([listOf(type)], listOf(type), sort, allPairsCost)),
  first: [member([LIST_A], optionalOf(A), (list: ListValue) => optionalItem(list, 0))],
  last: [member([LIST_A], optionalOf(A), (list: ListValue) => optionalItem(list, list.size - 1))],
  reverse: [member([LIST_A], LIST_A, (list: ListValue) => new ArrayListValue([...list.all()].reverse()), sublistCost)],
  flatten: [
    member([listOf(LIST_A)], LIST_A, flatten, allPairsCost),
    member([LIST_A, INT], LIST_A, flatten, allPairsCost),
  ],
  "lists.range": [
    global(
      [INT],
      listOf(INT),
      (count: bigint) => {
        if (count > MAX_RANGE) throw new EvaluationProblem(`lists.range: ${count} is more than ${MAX_RANGE}`);
        return new ArrayListValue(Array.from({ length: Number(count < 0n ? 0n : count) }, (_, index) => BigInt(index)));
      },
      ([count]) => {
        const max = count!.constant ?? Infinity;
        return { cost: { min: 10, max: 10 + max }, size: { min: 0, max: max } };
      },
    ),
  ],
  "sets.contains": [global([LIST_A, LIST_A], BOOL, containsAll, pairwiseCost)],
  "sets.equivalent": [
    global(
      [LIST_A, LIST_A],
      BOOL,
      (a: ListValue, b: ListValue) => containsAll(a, b) && containsAll(b, a),
      pairwiseCost,
    ),
  ],
  "sets.intersects": [global([LIST_A, LIST_A], BOOL, intersects, pairwiseCost)],
};

const MAX_RANGE = 1_000_000n;
