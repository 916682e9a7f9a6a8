import { isJsonObject, ownMember } from "./json.js";

/**
 * Returns the first value at a JSON path. Supported: `.spec.replicas`, `.spec.list[0].name`,
 * `.metadata.annotations.example\\.com/x`, `.metadata.labels['a.b']`, `[*]`, `.*`, `[0:2]`, `..name`, and
 * `[?(@.type=="Ready")]` with `==`, `!=`, `<`, `<=`, `>`, `>=`. A path with any other syntax finds nothing.
 *
 * Upstream: client-go `util/jsonpath`.
 */
export function readJsonPath(path: string, root: unknown): unknown {
  const steps = stepsOf(path);
  return steps === undefined ? undefined : firstAt(steps, 0, root);
}

/** Yields all values that one step of a path finds in a value, in order. */
type Step = (value: unknown) => Iterable<unknown>;

const STEP =
  /^(?:(\.\.)((?:\\.|[^.[\]\\])+)|\.((?:\\.|[^.[\]\\])+)|\[(-?\d+)\]|\[(\*)\]|\[(-?\d*):(-?\d*)\]|\[(?:'([^']*)'|"([^"]*)")\]|\[\?\(\s*@((?:\.[\w-]+)*)\s*(==|!=|<=|>=|<|>)\s*("[^"]*"|'[^']*'|[^"')\s]+)\s*\)\])/;

function stepsOf(path: string): Step[] | undefined {
  const steps: Step[] = [];
  let rest = path;
  while (rest !== "" && rest !== ".") {
    const match = STEP.exec(rest);
    if (match === null) return undefined;
    rest = rest.slice(match[0].length);
    const [, descends, deepName, name, index, every, from, to, single, double, filtered, operator, operand] = match;
    if (descends !== undefined) steps.push(everywhere(member(plain(deepName!))));
    else if (name !== undefined) steps.push(name === "*" ? all : member(plain(name)));
    else if (index !== undefined)
      steps.push(slice(Number(index), Number(index) === -1 ? undefined : Number(index) + 1));
    else if (every !== undefined) steps.push(all);
    else if (from !== undefined) steps.push(slice(Number(from), to === "" ? undefined : Number(to)));
    else if (operator !== undefined) steps.push(filter(filtered!, operator, operand!));
    else steps.push(member((single ?? double)!));
  }
  return steps;
}

function firstAt(steps: readonly Step[], index: number, value: unknown): unknown {
  const step = steps[index];
  if (step === undefined) return value;
  for (const found of step(value)) {
    const first = firstAt(steps, index + 1, found);
    if (first !== undefined) return first;
  }
  return undefined;
}

function plain(name: string): string {
  return name.replace(/\\(.)/g, "$1");
}

function member(name: string): Step {
  return (value) => {
    const found = isJsonObject(value) ? ownMember(value, name) : undefined;
    return found === undefined ? [] : [found];
  };
}

function all(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

function slice(from: number, to: number | undefined): Step {
  return (value) => (Array.isArray(value) ? (value as unknown[]).slice(from, to) : []);
}

function everywhere(step: Step): Step {
  return function* search(value): Generator<unknown> {
    yield* step(value);
    for (const part of all(value)) if (typeof part === "object" && part !== null) yield* search(part);
  };
}

function filter(path: string, operator: string, operand: string): Step {
  const wanted: unknown = /^["']/.test(operand) ? operand.slice(1, -1) : literal(operand);
  return (value) => all(value).filter((item) => holds(operator, path === "" ? item : readJsonPath(path, item), wanted));
}

function literal(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return Number.isNaN(Number(text)) ? text : Number(text);
}

function holds(operator: string, value: unknown, wanted: unknown): boolean {
  if (value === undefined) return false;
  if (operator === "==") return value === wanted;
  if (operator === "!=") return value !== wanted;
  if (typeof value !== typeof wanted || (typeof value !== "number" && typeof value !== "string")) return false;
  const [left, right] = [value, wanted as typeof value];
  if (operator.startsWith("<")) return left < right || (operator === "<=" && left === right);
  return left > right || (operator === ">=" && left === right);
}

/** Returns a copy of the object with another value at a path of plain member names. Shares the rest. */
export function writeJsonPath(path: string, root: unknown, value: unknown): unknown {
  const [name, ...rest] = path.split(".").filter((part) => part !== "");
  if (name === undefined) return value;
  const object = isJsonObject(root) ? root : {};
  return { ...object, [name]: writeJsonPath(rest.join("."), ownMember(object, name), value) };
}
