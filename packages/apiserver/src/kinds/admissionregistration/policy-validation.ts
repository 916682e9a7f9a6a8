import type { ValidatingAdmissionPolicy } from "@kubewright/api";
import { byteLength, dns1035LabelErrors, dnsSubdomainErrors, qualifiedNameErrors } from "@kubewright/api/validation";
import type { Type } from "@kubewright/cel";

import { AdmissionExpressions, type ExpressionScope } from "../../admission/expressions.js";
import type { FieldErrors } from "../../field-errors.js";
import { addInvalid, validateSupported, validateUnique } from "../../validation/rules.js";
import { validateExpression, validateMatchConditions } from "./match-conditions.js";
import { FAILURE_POLICIES, validateMatchResources } from "./rule-validation.js";

type Spec = NonNullable<ValidatingAdmissionPolicy["spec"]>;

const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;
const NOT_SPECIFIED = "expression is not specified";
const ONE_NEEDED = "validations or auditAnnotations must contain at least one item";
/** Reserved words of CEL, which variables may not use as names. Upstream: `celReservedSymbols`. */
const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** Upstream: `validateValidatingAdmissionPolicySpec`. */
export function validatePolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy, errors: FieldErrors): void {
  const { failurePolicy, paramKind, matchConstraints, matchConditions = [], variables = [] } = spec;
  const { validations = [], auditAnnotations = [] } = spec;
  const compiler = new AdmissionExpressions();
  const params = paramKind !== undefined;
  if (failurePolicy === undefined) errors.required("spec.failurePolicy");
  validateSupported(failurePolicy, FAILURE_POLICIES, "spec.failurePolicy", errors);
  if (paramKind !== undefined) validateParamKind(paramKind, errors);
  if (matchConstraints === undefined) errors.required("spec.matchConstraints");
  else {
    validateMatchResources(matchConstraints, "spec.matchConstraints", errors);
    if ((matchConstraints.resourceRules ?? []).length === 0) errors.required("spec.matchConstraints.resourceRules");
  }
  validateMatchConditions(matchConditions, "spec.matchConditions", compiler, { params, authorizer: true }, errors);
  const types = validateVariables(variables, compiler, params, errors);
  if (validations.length === 0 && auditAnnotations.length === 0) {
    errors.required("spec.validations", ONE_NEEDED);
    errors.required("spec.auditAnnotations", ONE_NEEDED);
    return;
  }
  const names: ExpressionScope = { params, authorizer: true, variables: types };
  for (const [index, validation] of validations.entries())
    validateValidation(validation, `spec.validations[${index}]`, compiler, names, errors);
  validateAuditAnnotations(auditAnnotations, metadata.name ?? "", compiler, names, errors);
}

/** Upstream: `validateParamKind`. */
function validateParamKind({ apiVersion = "", kind = "" }: NonNullable<Spec["paramKind"]>, errors: FieldErrors): void {
  const path = "spec.paramKind";
  const parts = apiVersion.split("/");
  if (apiVersion === "") errors.required(`${path}.apiVersion`);
  else if (parts.length > 2)
    errors.invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  else {
    const [group, version] = parts.length === 2 ? (parts as [string, string]) : ["", apiVersion];
    const wrongGroup = group === "" ? [] : dnsSubdomainErrors(group);
    if (wrongGroup.length > 0) errors.invalid(`${path}.apiVersion`, group, wrongGroup.join(","));
    const wrongVersion = dns1035LabelErrors(version);
    if (version === "") errors.invalid(`${path}.apiVersion`, apiVersion, "version must be specified");
    else if (wrongVersion.length > 0) errors.invalid(`${path}.apiVersion`, version, wrongVersion.join(","));
  }
  const wrongKind = dns1035LabelErrors(kind.toLowerCase());
  if (kind === "") errors.required(`${path}.kind`);
  else if (wrongKind.length > 0)
    errors.invalid(`${path}.kind`, kind, `may have mixed case, but should otherwise match: ${wrongKind.join(",")}`);
}

/**
 * Validates variables. Each may use the variables before it.
 *
 * @returns the types by name; for a duplicate name, the type of the last variable
 */
function validateVariables(
  variables: NonNullable<Spec["variables"]>,
  compiler: AdmissionExpressions,
  params: boolean,
  errors: FieldErrors,
): ReadonlyMap<string, Type> {
  const types = new Map<string, Type>();
  for (const [index, { name, expression }] of variables.entries()) {
    const path = `spec.variables[${index}]`;
    if (!name) errors.required(`${path}.name`, "name is not specified");
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || RESERVED.has(name))
      errors.invalid(`${path}.name`, name, "must be a valid CEL identifier");
    if ((expression ?? "").trim() === "") {
      errors.required(`${path}.expression`, NOT_SPECIFIED);
      continue;
    }
    const compiled = compiler.compile(expression, "any", { params, authorizer: true, variables: types });
    if ("problem" in compiled) errors.invalid(`${path}.expression`, expression, compiled.problem);
    else types.set(name, compiled.program.type);
  }
  return types;
}

/** Upstream: `validateValidation`. */
function validateValidation(
  { expression, message = "", messageExpression = "", reason }: NonNullable<Spec["validations"]>[number],
  path: string,
  compiler: AdmissionExpressions,
  names: ExpressionScope,
  errors: FieldErrors,
): void {
  if ((expression ?? "").trim() === "") errors.required(`${path}.expression`, NOT_SPECIFIED);
  else validateExpression(expression, { path: `${path}.expression`, compiler, wanted: "bool", names, errors });
  if (messageExpression !== "") {
    const at = `${path}.messageExpression`;
    if (messageExpression.trim() === "") errors.invalid(at, messageExpression, "must be non-empty if specified");
    else {
      const available = { ...names, authorizer: false };
      validateExpression(messageExpression, { path: at, compiler, wanted: "string", names: available, errors });
    }
  }
  const trimmed = message.trim();
  if (message !== "" && trimmed === "")
    errors.invalid(`${path}.message`, message, "message must be non-empty if specified");
  else if (/[\r\n]/.test(trimmed)) errors.invalid(`${path}.message`, message, "must not contain line breaks");
  validateSupported(reason, REASONS, `${path}.reason`, errors);
}

/** Upstream: `validateAuditAnnotation`. */
function validateAuditAnnotations(
  annotations: NonNullable<Spec["auditAnnotations"]>,
  policyName: string,
  compiler: AdmissionExpressions,
  names: ExpressionScope,
  errors: FieldErrors,
): void {
  if (annotations.length > MAX_AUDIT_ANNOTATIONS)
    errors.invalid(
      "spec.auditAnnotations",
      annotations,
      `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`,
    );
  const keys = new Set<string>();
  for (const [index, { key, valueExpression }] of annotations.entries()) {
    const path = `spec.auditAnnotations[${index}]`;
    const full = policyName === "" ? key : `${policyName}/${key}`;
    addInvalid(errors, `${path}.key`, full, qualifiedNameErrors(full));
    const trimmed = (valueExpression ?? "").trim();
    if (trimmed === "") errors.required(`${path}.valueExpression`, "valueExpression is not specified");
    else if (byteLength(trimmed) > MAX_VALUE_EXPRESSION_BYTES)
      errors.required(`${path}.valueExpression`, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`);
    else {
      const at = `${path}.valueExpression`;
      validateExpression(trimmed, { path: at, compiler, wanted: "string or null", names, errors });
    }
    validateUnique(key, keys, `${path}.key`, errors);
  }
}

/** Upstream: `validateTypeChecking`. */
export function validatePolicyStatus({ status = {} }: ValidatingAdmissionPolicy, errors: FieldErrors): void {
  for (const [index, { fieldRef, warning }] of (status.typeChecking?.expressionWarnings ?? []).entries()) {
    const path = `status.typeChecking.expressionWarnings[${index}]`;
    if (!warning) errors.required(`${path}.warning`);
    if (!fieldRef) errors.required(`${path}.fieldRef`);
  }
}
