export { CostBudget, CostExceeded } from "./cost-budget.js";
export { ExpressionEnvironment, type Program } from "./environment.js";
export type { DeclaredType } from "./declared-type.js";
export { EvaluationProblem, ListValue, MapValue, Optional, type Value } from "./values.js";
