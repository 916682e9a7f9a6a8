import type { DeclaredType } from "../cel/declared-type.js";
import { ExpressionEnvironment, type Program } from "../cel/index.js";
import { DYN, type Type, typeName } from "../cel/types.js";
import { authorizerFunctions } from "./authorizer-functions.js";
import { AUTHORIZER, NAMESPACE, REQUEST, variablesType } from "./expression-types.js";

/** Bytes of a request, which is as large as a value can be. */
const MOST_BYTES = 3 * 1024 * 1024;

/** What an expression may name besides `object`, `oldObject`, `namespaceObject` and `request`. */
export interface Names {
  readonly params?: boolean;
  readonly authorizer?: boolean;
  /** Types of `variables`. Absent or empty: there are none. */
  readonly variables?: ReadonlyMap<string, Type>;
}

/** What an expression must come to. */
export type Wanted = "bool" | "string" | "string or null" | "any";

/** Either what was made of an expression, or what is wrong with it. */
export type Compiled = { readonly program: Program } | { readonly problem: string };

/**
 * Compiles the expressions of admission: match conditions, and what a policy consists of. Upstream: apiserver
 * `pkg/admission/plugin/cel/compile.go`.
 */
export class AdmissionExpressions {
  #environment: ExpressionEnvironment | undefined;

  compile(source: string, wanted: Wanted, names: Names = {}): Compiled {
    this.#environment ??= new ExpressionEnvironment(authorizerFunctions);
    const compiled = this.#environment.compile(source, declarations(names));
    if ("errors" in compiled) return { problem: `compilation failed: ${compiled.errors}` };
    const problem = wrongResult(compiled.program.type, wanted);
    return problem === undefined ? compiled : { problem };
  }
}

function declarations({ params = false, authorizer = false, variables }: Names): ReadonlyMap<string, DeclaredType> {
  const types = new Map<string, Type>([
    ["object", DYN],
    ["oldObject", DYN],
    ["namespaceObject", NAMESPACE],
    ["request", REQUEST],
  ]);
  if (params) types.set("params", DYN);
  if (authorizer) types.set("authorizer", AUTHORIZER);
  if (variables !== undefined && variables.size > 0) types.set("variables", variablesType(variables));
  return new Map([...types].map(([name, type]) => [name, { type, most: MOST_BYTES, leastBytes: 1 }]));
}

/** Kinds of types that an expression may come to, and how upstream says so. One that shows only later is none of them. */
const RESULTS: Readonly<Record<Wanted, { readonly kinds: readonly string[]; readonly text: string } | undefined>> = {
  any: undefined,
  bool: { kinds: ["bool"], text: "bool" },
  string: { kinds: ["string"], text: "string" },
  "string or null": { kinds: ["string", "null"], text: "one of [string null_type]" },
};

function wrongResult(type: Type, wanted: Wanted): string | undefined {
  const result = RESULTS[wanted];
  if (result === undefined || result.kinds.includes(type.kind)) return undefined;
  return `must evaluate to ${result.text} but got ${nameOf(type)}`;
}

function nameOf(type: Type): string {
  return type.kind === "null" ? "null_type" : typeName(type);
}
