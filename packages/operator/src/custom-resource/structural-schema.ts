/** A validation rule in the Common Expression Language (CEL). */
export interface ValidationRule {
  /** A CEL expression about `self`, and for updates `oldSelf`: `self.replicas <= self.limit`. */
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A structural schema, as `openAPIV3Schema` of apiextensions.k8s.io/v1. */
export interface StructuralSchema {
  type?: "array" | "boolean" | "integer" | "number" | "object" | "string";
  format?: string;
  title?: string;
  description?: string;
  nullable?: boolean;
  default?: unknown;
  enum?: readonly unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  required?: readonly string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  allOf?: StructuralSchema[];
  anyOf?: StructuralSchema[];
  oneOf?: StructuralSchema[];
  not?: StructuralSchema;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: readonly string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-validations"?: readonly ValidationRule[];
}
