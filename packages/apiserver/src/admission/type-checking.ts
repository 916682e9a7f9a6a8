import { type DeepReadonly, type ValidatingAdmissionPolicy, apiVersionOf } from "@kubewright/api";
import { DYN, type Type } from "@kubewright/cel";

import type { GroupVersionKind } from "../registry/admission.js";
import type { ResourceRegistry } from "../resource-registry.js";
import type { BuiltInSchemas } from "../schema/built-in-schemas.js";
import type { AdmissionExpressions } from "./expressions.js";
import { SchemaTypes } from "./schema-type.js";

type Spec = DeepReadonly<NonNullable<ValidatingAdmissionPolicy["spec"]>>;

/** A type error in an expression of a policy for the objects of a kind. */
export interface ExpressionWarning {
  /** Path of the expression: `spec.validations[0].expression`. */
  readonly fieldRef: string;
  readonly warning: string;
}

/** Maximum number of kinds checked per rule. Upstream: `maxTypesToCheck`. */
const MAX_KINDS = 10;

/**
 * Checks the validations of policies against the types of the built-in kinds that they match by name. Expressions for
 * other kinds and for custom resources are checked only at evaluation. The warnings do not change the effect of a
 * policy.
 *
 * Upstream: `typechecking.go` of apiserver's `pkg/admission/plugin/policy/validating`.
 */
export class TypeChecker {
  readonly #registry: ResourceRegistry;
  readonly #schemas: BuiltInSchemas;
  readonly #compiler: AdmissionExpressions;
  readonly #types = new SchemaTypes();

  constructor(registry: ResourceRegistry, schemas: BuiltInSchemas, compiler: AdmissionExpressions) {
    this.#registry = registry;
    this.#schemas = schemas;
    this.#compiler = compiler;
  }

  warnings(spec: Spec): ExpressionWarning[] {
    const kinds = this.#kindsOf(spec).map((kind) => ({ kind, type: this.#typeOf(kind) }));
    const { paramKind } = spec;
    const params = paramKind && (this.#typeOfKind(paramKind.apiVersion ?? "", paramKind.kind ?? "") ?? DYN);
    const found: ExpressionWarning[] = [];
    const check = (fieldRef: string, expression: string | undefined): void => {
      if (!expression) return;
      const wrong = kinds.flatMap(({ kind, type }) => {
        const errors = type && this.#errors(expression, spec, type, params);
        return errors === undefined ? [] : `${textOf(kind)}: ${errors}`;
      });
      if (wrong.length > 0) found.push({ fieldRef, warning: wrong.join("\n") });
    };
    for (const [index, { expression, messageExpression }] of (spec.validations ?? []).entries()) {
      check(`spec.validations[${index}].expression`, expression);
      check(`spec.validations[${index}].messageExpression`, messageExpression);
    }
    return found;
  }

  #errors(expression: string, { variables = [] }: Spec, object: Type, params: Type | undefined): string | undefined {
    const types = new Map<string, Type>();
    const names = { object, params, authorizer: true, variables: types };
    for (const { name, expression: source } of variables) {
      const compiled = this.#compiler.check(source, names);
      types.set(name, "type" in compiled ? compiled.type : DYN);
    }
    const checked = this.#compiler.check(expression, names);
    return "errors" in checked ? checked.errors : undefined;
  }

  /** Upstream: `typesToCheck`. */
  #kindsOf({ matchConstraints }: Spec): GroupVersionKind[] {
    const kinds = new Map<string, GroupVersionKind>();
    for (const { apiGroups, apiVersions, resources } of matchConstraints?.resourceRules ?? []) {
      const groups = named(apiGroups);
      const versions = named(apiVersions);
      const plurals = (resources ?? []).filter((resource) => !/[*/]/.test(resource)).sort();
      let count = 0;
      for (const group of groups)
        for (const version of versions)
          for (const plural of plurals) {
            const resource = count < MAX_KINDS ? this.#registry.find(group, version, plural) : undefined;
            if (resource === undefined) continue;
            count++;
            kinds.set(textOf(resource), resource);
          }
      if (count === MAX_KINDS) break;
    }
    return [...kinds.keys()].sort().map((text) => kinds.get(text)!);
  }

  #typeOf({ group, version, kind }: GroupVersionKind): Type | undefined {
    return this.#typeOfKind(apiVersionOf({ group, version }), kind);
  }

  #typeOfKind(apiVersion: string, kind: string): Type | undefined {
    const known = [...this.#registry.all()].find((each) => each.apiVersion === apiVersion && each.kind === kind);
    const schema = known?.custom === undefined ? this.#schemas.ofKind(apiVersion, kind) : undefined;
    return schema === undefined ? undefined : this.#types.of(schema);
  }
}

/** Returns the sorted names, or none if a name contains a wildcard. */
function named(names: readonly string[] = []): readonly string[] {
  return names.some((name) => name.includes("*")) ? [] : names.toSorted();
}

/** Formats the kind as Go prints it: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`. */
function textOf({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}
