import { type ConfigMap, type DeepReadonly, type Secret, configMaps, secrets } from "@kubewright/api";
import { type Client, isNotFound } from "@kubewright/client";

import { ConfigError } from "./config-error.js";

/** The data of a ConfigMap or a Secret. */
export type ConfigData = ReadonlyMap<string, Uint8Array>;

/** Reads ConfigMaps and Secrets in a pod's namespace. */
export class ConfigReader {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #signal: AbortSignal;

  constructor(client: Client, namespace: string, signal: AbortSignal) {
    this.#client = client;
    this.#namespace = namespace;
    this.#signal = signal;
  }

  /**
   * @returns `undefined` when the object does not exist and is optional.
   * @throws ConfigError when the object does not exist and is required.
   */
  async read(kind: "ConfigMap" | "Secret", name: string, isOptional: boolean): Promise<ConfigData | undefined> {
    const options = { namespace: this.#namespace, signal: this.#signal };
    try {
      return kind === "ConfigMap"
        ? ofConfigMap(await this.#client.resource(configMaps).get(name, options))
        : ofSecret(await this.#client.resource(secrets).get(name, options));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (isOptional) return undefined;
      throw new ConfigError(`${kind.toLowerCase()} ${JSON.stringify(name)} not found`, { cause: error });
    }
  }

  /** @throws ConfigError when the key does not exist and is required. */
  async readKey(
    kind: "ConfigMap" | "Secret",
    { name = "", key, optional = false }: { readonly name?: string; readonly key: string; readonly optional?: boolean },
  ): Promise<string | undefined> {
    const value = (await this.read(kind, name, optional))?.get(key);
    if (value === undefined && !optional)
      throw new ConfigError(`couldn't find key ${key} in ${kind} ${this.#namespace}/${name}`);
    return value === undefined ? undefined : new TextDecoder().decode(value);
  }
}

function ofConfigMap({ data = {}, binaryData = {} }: DeepReadonly<ConfigMap>): ConfigData {
  const encoder = new TextEncoder();
  return new Map([
    ...Object.entries(data).map(([key, value]) => [key, encoder.encode(value)] as const),
    ...Object.entries(binaryData).map(([key, value]) => [key, fromBase64(value)] as const),
  ]);
}

function ofSecret({ data = {} }: DeepReadonly<Secret>): ConfigData {
  return new Map(Object.entries(data).map(([key, value]) => [key, fromBase64(value)] as const));
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
