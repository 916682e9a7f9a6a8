import { DYN, type DeclaredType, ExpressionEnvironment, type Program, type Type, typeName } from "@kubewright/cel";

import { authorizerFunctions } from "./authorizer-functions.js";
import { AUTHORIZER, NAMESPACE, REQUEST, variablesType } from "./expression-types.js";

/** Maximum size of a value in bytes: the maximum size of a request. */
const MAX_BYTES = 3 * 1024 * 1024;

/** Variables of an expression besides `object`, `oldObject`, `namespaceObject` and `request`. */
export interface ExpressionScope {
  /** Type of `object` and `oldObject`. Default: dynamic. */
  readonly object?: Type;
  /** Whether `params` exists, or its type. Default false. */
  readonly params?: boolean | Type | undefined;
  readonly authorizer?: boolean;
  /** Types of `variables`. Absent or empty: `variables` does not exist. */
  readonly variables?: ReadonlyMap<string, Type>;
}

/** Required result type of an expression. */
export type ExpectedResult = "bool" | "string" | "string or null" | "any";

/** A compiled expression, or the compile error. */
export type CompileResult = { readonly program: Program } | { readonly problem: string };

/**
 * Compiles the expressions of admission: match conditions and the expressions of policies. Upstream: apiserver
 * `pkg/admission/plugin/cel/compile.go`.
 */
export class AdmissionExpressions {
  #environment: ExpressionEnvironment | undefined;

  compile(source: string, expected: ExpectedResult, names: ExpressionScope = {}): CompileResult {
    const compiled = this.#compile(source, names);
    if ("errors" in compiled) return { problem: `compilation failed: ${compiled.errors}` };
    const problem = resultTypeError(compiled.program.type, expected);
    return problem === undefined ? compiled : { problem };
  }

  /** Returns the result type of an expression, or the compiler's messages without a prefix. */
  check(source: string, names: ExpressionScope): { readonly type: Type } | { readonly errors: string } {
    const compiled = this.#compile(source, names);
    return "errors" in compiled ? compiled : { type: compiled.program.type };
  }

  #compile(source: string, names: ExpressionScope): ReturnType<ExpressionEnvironment["compile"]> {
    this.#environment ??= new ExpressionEnvironment(authorizerFunctions);
    return this.#environment.compile(source, declarations(names));
  }
}

function declarations({
  object = DYN,
  params = false,
  authorizer = false,
  variables,
}: ExpressionScope): ReadonlyMap<string, DeclaredType> {
  const types = new Map<string, Type>([
    ["object", object],
    ["oldObject", object],
    ["namespaceObject", NAMESPACE],
    ["request", REQUEST],
  ]);
  if (params !== false) types.set("params", params === true ? DYN : params);
  if (authorizer) types.set("authorizer", AUTHORIZER);
  if (variables !== undefined && variables.size > 0) types.set("variables", variablesType(variables));
  return new Map([...types].map(([name, type]) => [name, { type, max: MAX_BYTES, minBytes: 1 }]));
}

/** Allowed result types, and upstream's text for them. A dynamic result is never allowed. */
const RESULTS: Readonly<
  Record<ExpectedResult, { readonly kinds: readonly string[]; readonly text: string } | undefined>
> = {
  any: undefined,
  bool: { kinds: ["bool"], text: "bool" },
  string: { kinds: ["string"], text: "string" },
  "string or null": { kinds: ["string", "null"], text: "one of [string null_type]" },
};

function resultTypeError(type: Type, expected: ExpectedResult): string | undefined {
  const result = RESULTS[expected];
  if (result === undefined || result.kinds.includes(type.kind)) return undefined;
  return `must evaluate to ${result.text} but got ${nameOf(type)}`;
}

function nameOf(type: Type): string {
  return type.kind === "null" ? "null_type" : typeName(type);
}
