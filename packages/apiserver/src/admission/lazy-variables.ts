import { EvaluationProblem, MapValue, type Type, type Value } from "@kubewright/cel";

import { variablesType } from "./expression-types.js";

/**
 * The CEL variable `variables`: evaluates each member on first access and caches the value. Upstream:
 * `CompositionContext`.
 */
export class LazyVariables extends MapValue {
  readonly #compute: ReadonlyMap<string, () => Value>;
  readonly #known = new Map<string, Value>();

  constructor(compute: ReadonlyMap<string, () => Value>) {
    super();
    this.#compute = compute;
  }

  get size(): number {
    return this.#compute.size;
  }

  /** @throws EvaluationProblem when the variable cannot be evaluated. */
  get(key: Value): Value | undefined {
    const compute = typeof key === "string" ? this.#compute.get(key) : undefined;
    if (compute === undefined) return undefined;
    const name = key as string;
    let value = this.#known.get(name);
    if (value !== undefined) return value;
    try {
      value = compute();
    } catch (error) {
      if (!(error instanceof EvaluationProblem)) throw error;
      throw new EvaluationProblem(`composited variable ${JSON.stringify(name)} fails to evaluate: ${error.message}`);
    }
    this.#known.set(name, value);
    return value;
  }

  keys(): Iterable<Value> {
    return this.#compute.keys();
  }

  /** An empty type: member types were checked when the expressions were compiled. */
  override get objectType(): Type {
    return variablesType(new Map());
  }
}
