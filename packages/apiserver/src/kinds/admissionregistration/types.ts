import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

const RULE = "apiGroups,apiVersions,resources,scope";

/** The types of admissionregistration.k8s.io/v1. */
export const admissionRegistrationTypes: TypeDeclarations = {
  fields,
  rules: {
    patchMergeKeys: {
      "MutatingWebhookConfiguration.webhooks": "name",
      "ValidatingWebhookConfiguration.webhooks": "name",
      "MutatingWebhook.matchConditions": "name",
      "ValidatingWebhook.matchConditions": "name",
      "ValidatingAdmissionPolicySpec.matchConditions": "name",
      "ValidatingAdmissionPolicySpec.variables": "name",
      "ValidatingAdmissionPolicyStatus.conditions": "type",
    },
    listTypes: {
      "MutatingWebhookConfiguration.webhooks": "name",
      "ValidatingWebhookConfiguration.webhooks": "name",
      "MutatingWebhook.matchConditions": "name",
      "ValidatingWebhook.matchConditions": "name",
      "ValidatingAdmissionPolicySpec.matchConditions": "name",
      "ValidatingAdmissionPolicySpec.variables": "name",
      "ValidatingAdmissionPolicyStatus.conditions": "type",
      "ValidatingAdmissionPolicyBindingSpec.validationActions": "set",
    },
    atomicTypes: new Set(["MatchResources", "NamedRuleWithOperations", "ParamKind", "ParamRef", "Variable"]),
    presentWhenZero: {
      ...forEachWebhook("name", ""),
      ...forEachWebhook("clientConfig", {}),
      ...forEachWebhook("sideEffects", null),
      ...forEachWebhook("admissionReviewVersions", null),
      "AdmissionregistrationV1ServiceReference.name": "",
      "AdmissionregistrationV1ServiceReference.namespace": "",
      "MatchCondition.name": "",
      "MatchCondition.expression": "",
      "ValidatingAdmissionPolicy.spec": {},
      "ValidatingAdmissionPolicy.status": {},
      "ValidatingAdmissionPolicyBinding.spec": {},
      "Validation.expression": "",
      "AuditAnnotation.key": "",
      "AuditAnnotation.valueExpression": "",
      "Variable.name": "",
      "Variable.expression": "",
      "ExpressionWarning.fieldRef": "",
      "ExpressionWarning.warning": "",
    },
    dropsZero: new Set(["ValidatingAdmissionPolicyStatus.observedGeneration"]),
    keepsEmptyString: new Set([
      "AdmissionregistrationV1WebhookClientConfig.url",
      "AdmissionregistrationV1ServiceReference.path",
      ...["failurePolicy", "matchPolicy", "sideEffects", "reinvocationPolicy"].map((name) => `MutatingWebhook.${name}`),
      ...["failurePolicy", "matchPolicy", "sideEffects"].map((name) => `ValidatingWebhook.${name}`),
      "ValidatingAdmissionPolicySpec.failurePolicy",
      "MatchResources.matchPolicy",
      "RuleWithOperations.scope",
      "NamedRuleWithOperations.scope",
      "Validation.reason",
      "ParamRef.parameterNotFoundAction",
    ]),
  },
  fieldNumbers: {
    MutatingWebhookConfiguration: "metadata,webhooks",
    ValidatingWebhookConfiguration: "metadata,webhooks",
    MutatingWebhook:
      "name,clientConfig,rules,failurePolicy,namespaceSelector,sideEffects,timeoutSeconds,admissionReviewVersions,matchPolicy,reinvocationPolicy,objectSelector,matchConditions",
    ValidatingWebhook:
      "name,clientConfig,rules,failurePolicy,namespaceSelector,sideEffects,timeoutSeconds,admissionReviewVersions,matchPolicy,objectSelector,matchConditions",
    AdmissionregistrationV1WebhookClientConfig: "service,caBundle,url",
    AdmissionregistrationV1ServiceReference: "namespace,name,path,port",
    RuleWithOperations: "operations,~Rule",
    Rule: RULE,
    NamedRuleWithOperations: "resourceNames,~RuleWithOperations",
    MatchCondition: "name,expression",
    ValidatingAdmissionPolicy: "metadata,spec,status",
    ValidatingAdmissionPolicySpec:
      "paramKind,matchConstraints,validations,failurePolicy,auditAnnotations,matchConditions,variables",
    ValidatingAdmissionPolicyStatus: "observedGeneration,typeChecking,conditions",
    TypeChecking: "expressionWarnings",
    ExpressionWarning: ",fieldRef,warning",
    ParamKind: "apiVersion,kind",
    MatchResources: "namespaceSelector,objectSelector,resourceRules,excludeResourceRules,,,matchPolicy",
    Validation: "expression,message,reason,messageExpression",
    AuditAnnotation: "key,valueExpression",
    Variable: "name,expression",
    ValidatingAdmissionPolicyBinding: "metadata,spec",
    ValidatingAdmissionPolicyBindingSpec: "policyName,paramRef,matchResources,validationActions",
    ParamRef: "name,namespace,selector,parameterNotFoundAction",
  },
};

function forEachWebhook<T>(field: string, value: T): Record<string, T> {
  return { [`MutatingWebhook.${field}`]: value, [`ValidatingWebhook.${field}`]: value };
}
