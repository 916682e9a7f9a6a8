import { qualifiedNameErrors } from "@kubewright/api/validation";

import type { AdmissionExpressions, ExpressionScope, ExpectedResult } from "../../admission/expressions.js";
import type { FieldErrors } from "../../field-errors.js";
import { validateRequired, validateUnique } from "../../validation/rules.js";

export interface MatchCondition {
  name: string;
  expression: string;
}

const MAX_CONDITIONS = 64;

/** Upstream: `validateMatchConditions`. */
export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  path: string,
  compiler: AdmissionExpressions,
  names: ExpressionScope,
  errors: FieldErrors,
): void {
  if (conditions.length > MAX_CONDITIONS) errors.tooMany(path, conditions.length, MAX_CONDITIONS);
  const known = new Set<string>();
  for (const [index, { name, expression }] of conditions.entries()) {
    const at = `${path}[${index}]`;
    const trimmed = (expression ?? "").trim();
    if (trimmed === "") errors.required(`${at}.expression`);
    else validateExpression(trimmed, { path: `${at}.expression`, compiler, wanted: "bool", names, errors });
    validateRequired(name, qualifiedNameErrors, `${at}.name`, errors);
    if (name) validateUnique(name, known, `${at}.name`, errors);
  }
}

interface ExpressionCheck {
  readonly path: string;
  readonly compiler: AdmissionExpressions;
  readonly wanted: ExpectedResult;
  readonly names: ExpressionScope;
  readonly errors: FieldErrors;
}

/** Compiles an expression and reports its errors. The error shows the expression as it was sent. */
export function validateExpression(
  expression: string,
  { path, compiler, wanted, names, errors }: ExpressionCheck,
): void {
  const compiled = compiler.compile(expression, wanted, names);
  if ("problem" in compiled) errors.invalid(path, expression, compiled.problem);
}
