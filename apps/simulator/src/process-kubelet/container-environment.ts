import type { Container, DeepReadonly, Pod } from "@kubewright/api";

import { ConfigError } from "./config-error.js";
import type { ConfigReader } from "./config-reader.js";
import { expand } from "./expand.js";
import { podField } from "./pod-field.js";

/**
 * Returns the environment variables of a container's manifest, expanded.
 *
 * @throws ConfigError when the source of a variable is missing or not supported.
 * @see kubernetes v1.36 pkg/kubelet/kubelet_pods.go makeEnvironmentVariables
 */
export async function containerEnvironment(
  pod: DeepReadonly<Pod>,
  { env = [], envFrom = [] }: DeepReadonly<Container>,
  reader: ConfigReader,
): Promise<Record<string, string>> {
  const variables: Record<string, string> = {};
  for (const { prefix = "", configMapRef, secretRef } of envFrom) {
    const kind = configMapRef === undefined ? "Secret" : "ConfigMap";
    const { name = "", optional = false } = configMapRef ?? secretRef ?? {};
    for (const [key, value] of (await reader.read(kind, name, optional)) ?? []) {
      const variable = `${prefix}${key}`;
      if (!variable.includes("=")) variables[variable] = new TextDecoder().decode(value);
    }
  }
  for (const { name, value, valueFrom } of env) {
    const found =
      value === undefined && valueFrom !== undefined
        ? await valueOf(pod, valueFrom, reader)
        : expand(value ?? "", variables);
    if (found !== undefined) variables[name] = found;
  }
  return variables;
}

type Source = DeepReadonly<NonNullable<NonNullable<Container["env"]>[number]["valueFrom"]>>;

async function valueOf(pod: DeepReadonly<Pod>, source: Source, reader: ConfigReader): Promise<string | undefined> {
  const { fieldRef, configMapKeyRef, secretKeyRef } = source;
  if (fieldRef !== undefined) return podField(pod, fieldRef.fieldPath);
  if (configMapKeyRef !== undefined) return reader.readKey("ConfigMap", configMapKeyRef);
  if (secretKeyRef !== undefined) return reader.readKey("Secret", secretKeyRef);
  throw new ConfigError(`${Object.keys(source).join(", ")}: this kubelet does not support these sources`);
}
