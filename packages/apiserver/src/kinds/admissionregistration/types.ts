import type { TypeDeclarations } from "../../schema/type-declarations.js";

/** The types of admissionregistration.k8s.io/v1. */
export const admissionRegistrationTypes: TypeDeclarations = {
  fields: {
    MutatingWebhookConfiguration: "metadata:ObjectMeta webhooks:[name]MutatingWebhook | apiVersion kind",
    ValidatingWebhookConfiguration: "metadata:ObjectMeta webhooks:[name]ValidatingWebhook | apiVersion kind",
    ValidatingAdmissionPolicy:
      "metadata:ObjectMeta spec+:ValidatingAdmissionPolicySpec status+:ValidatingAdmissionPolicyStatus | apiVersion kind",
    ValidatingAdmissionPolicyBinding:
      "metadata:ObjectMeta spec!+:ValidatingAdmissionPolicyBindingSpec | apiVersion kind",
    MutatingWebhook:
      "name!+ clientConfig!+:AdmissionregistrationV1WebhookClientConfig rules:[]RuleWithOperations failurePolicy* namespaceSelector:LabelSelector sideEffects!+* timeoutSeconds:int32 admissionReviewVersions!+:[]string matchPolicy* reinvocationPolicy* objectSelector:LabelSelector matchConditions:[name]MatchCondition",
    ValidatingWebhook:
      "name!+ clientConfig!+:AdmissionregistrationV1WebhookClientConfig rules:[]RuleWithOperations failurePolicy* namespaceSelector:LabelSelector sideEffects!+* timeoutSeconds:int32 admissionReviewVersions!+:[]string matchPolicy* objectSelector:LabelSelector matchConditions:[name]MatchCondition",
    ValidatingAdmissionPolicySpec:
      "paramKind:ParamKind matchConstraints:MatchResources validations:[]Validation failurePolicy* auditAnnotations:[]AuditAnnotation matchConditions:[name]MatchCondition variables:[name]Variable",
    ValidatingAdmissionPolicyStatus: "observedGeneration?:int64 typeChecking:TypeChecking conditions:[type]Condition",
    ValidatingAdmissionPolicyBindingSpec:
      "policyName! paramRef:ParamRef matchResources:MatchResources validationActions!:[apply:set]string",
    AdmissionregistrationV1WebhookClientConfig: "service:AdmissionregistrationV1ServiceReference caBundle:bytes url*",
    MatchCondition: "name!+ expression!+",
    RuleWithOperations: "operations:[]string ~Rule",
    AuditAnnotation: "key!+ valueExpression!+",
    MatchResources:
      "namespaceSelector:LabelSelector objectSelector:LabelSelector resourceRules:[]NamedRuleWithOperations excludeResourceRules:[]NamedRuleWithOperations - - matchPolicy*",
    ParamKind: "apiVersion kind",
    Validation: "expression!+ message reason* messageExpression",
    Variable: "name!+ expression!+",
    TypeChecking: "expressionWarnings:[]ExpressionWarning",
    ParamRef: "name namespace selector:LabelSelector parameterNotFoundAction*",
    AdmissionregistrationV1ServiceReference: "namespace!+ name!+ path* port:int32",
    NamedRuleWithOperations: "resourceNames:[]string ~RuleWithOperations",
    ExpressionWarning: "- fieldRef!+ warning!+",
    Rule: "apiGroups:[]string apiVersions:[]string resources:[]string scope*",
  },
  atomicTypes: new Set(["MatchResources", "NamedRuleWithOperations", "ParamKind", "ParamRef", "Variable"]),
};
