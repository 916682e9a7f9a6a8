import type { KubernetesObject } from "@kubewright/api";
import { type Random, uuid } from "@kubewright/clock";

import { plainError } from "../api-error.js";
import type { ResourceRegistry } from "../resource-registry.js";
import type { ObjectConversion } from "../served-resource.js";
import { webhookAddress } from "../webhooks/webhook-address.js";
import type { WebhookCaller } from "../webhooks/webhook-call.js";
import {
  InvalidConversion,
  checkConverted,
  createConversionReview,
  readConvertedObjects,
} from "./conversion-review.js";
import type { WebhookConversion } from "./definition.js";

const TIMEOUT_SECONDS = 30;

/** The dependencies of calls to conversion webhooks. */
export interface ConversionContext {
  /** Sends the request; `undefined` when the server calls no webhooks. */
  readonly call: WebhookCaller | undefined;
  readonly random: Random;
  /** Finds the Services that webhooks refer to. */
  readonly registry: ResourceRegistry;
  /** Aborts when the server stops. */
  readonly signal: AbortSignal;
}

/**
 * Converts the objects of a CustomResourceDefinition with its webhook. Results are not cached.
 *
 * Upstream: apiextensions-apiserver `pkg/apiserver/conversion/webhook_converter.go`. Upstream converts one object at a
 * time when a list is read, so its errors name the kind of the objects, never the list's. These errors do the same.
 */
export class ConversionWebhook implements ObjectConversion {
  readonly #webhook: WebhookConversion;
  readonly #context: ConversionContext;

  constructor(webhook: WebhookConversion, context: ConversionContext) {
    this.#webhook = webhook;
    this.#context = context;
  }

  /** Converts the objects to a version. Objects that already have the version are not sent. */
  async convert(objects: readonly KubernetesObject[], apiVersion: string): Promise<readonly KubernetesObject[]> {
    const sent = objects.filter((object) => object.apiVersion !== apiVersion);
    if (sent.length === 0) return objects;
    const received = (await this.#convertByWebhook(sent, apiVersion)).values();
    return objects.map((object) => (object.apiVersion === apiVersion ? object : received.next().value!));
  }

  async #convertByWebhook(sent: readonly KubernetesObject[], apiVersion: string): Promise<readonly KubernetesObject[]> {
    const [{ apiVersion: from, kind }] = sent as readonly [KubernetesObject];
    const failed = (problem: string): Error => plainError(`conversion webhook for ${from}, Kind=${kind} ${problem}`);
    let received: readonly unknown[];
    try {
      received = await this.#call(sent, apiVersion);
    } catch (error) {
      throw failed(`failed: ${(error as Error).message}`);
    }
    if (received.length !== sent.length) throw failed(`returned ${received.length} objects, expected ${sent.length}`);
    return received.map((value, index) => {
      try {
        return checkConverted(sent[index]!, value, apiVersion);
      } catch (error) {
        if (!(error instanceof InvalidConversion)) throw error;
        const where = sent.length === 1 ? error.part : `${PART_TEXTS[error.part]} at index ${index}`;
        throw failed(`returned invalid ${where}: ${error.message}`);
      }
    });
  }

  /** @throws Error with the reason when there is no valid response */
  async #call(objects: readonly KubernetesObject[], desiredAPIVersion: string): Promise<readonly unknown[]> {
    const { clientConfig, conversionReviewVersions } = this.#webhook;
    const { call, random, registry, signal } = this.#context;
    const review = createConversionReview(conversionReviewVersions, { uid: uuid(random), desiredAPIVersion, objects });
    const { url, resolve } = webhookAddress(clientConfig, TIMEOUT_SECONDS, registry);
    const { caBundle } = clientConfig;
    const answer = await withPostErrors(url, () => {
      if (call === undefined) throw new Error("this server calls no webhooks");
      const timeoutMs = TIMEOUT_SECONDS * 1000;
      return call({ url, address: resolve(), caBundle, body: review, timeoutMs, signal });
    });
    return readConvertedObjects(answer, review);
  }
}

const PART_TEXTS = { object: "converted object", metadata: "metadata in object" } as const;

/** Adds the URL to the message of an error, as Go does. */
async function withPostErrors<T>(url: string, post: () => Promise<T>): Promise<T> {
  try {
    return await post();
  } catch (error) {
    throw new Error(`Post ${JSON.stringify(url)}: ${(error as Error).message}`, { cause: error });
  }
}
