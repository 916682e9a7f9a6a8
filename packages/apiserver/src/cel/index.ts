export { CostBudget, CostExceeded } from "./evaluator.js";
export { ExpressionEnvironment, type Program } from "./environment.js";
export type { DeclaredType } from "./declared-type.js";
export { EvaluationProblem, ListValue, MapValue, Optional, type Value } from "./values.js";
