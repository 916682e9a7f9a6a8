export { type CostModel, exactly } from "./cost.js";
export { CostBudget, CostExceeded } from "./cost-budget.js";
export type { DeclaredType } from "./declared-type.js";
export { ExpressionEnvironment, type Program } from "./environment.js";
export { type FunctionLibrary, type Overload, member } from "./functions.js";
export { instructionCount } from "./instruction-count.js";
export { formatError, isKnownFormat, parseLooseDuration } from "./string-formats.js";
export { type Expression, type Literal, Parser, SyntaxProblem, UnsignedInteger } from "./syntax.js";
export { parseTimestamp } from "./time.js";
export {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  type Type,
  listOf,
  mapOf,
  opaque,
  optionalOf,
  typeName,
} from "./types.js";
export {
  Duration,
  EvaluationProblem,
  LazyMapValue,
  ListValue,
  MapValue,
  OpaqueValue,
  Optional,
  Timestamp,
  type Value,
  fingerprint,
} from "./values.js";
