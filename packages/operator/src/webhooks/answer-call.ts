import { ReviewError, type Webhook } from "./webhook.js";

/** What comes back from a webhook: JSON, or why there is none. */
export interface CallAnswer {
  readonly status: number;
  readonly text: string;
}

/** Finds the webhook of a path and has it answer a review. Never rejects: what fails is a status, which the API server tells. */
export async function answerCall(webhooks: readonly Webhook[], path: string, review: unknown): Promise<CallAnswer> {
  const webhook = webhooks.find((each) => each.path === path);
  if (webhook === undefined) return { status: 404, text: `no webhook is served at ${path}` };
  try {
    return { status: 200, text: JSON.stringify(await webhook.review(review)) };
  } catch (error) {
    const text = `${webhook.name}: ${error instanceof Error ? error.message : String(error)}`;
    return { status: error instanceof ReviewError ? 400 : 500, text };
  }
}

/** @throws Error when two have one path, or one name in their configuration. */
export function checkWebhooks(webhooks: readonly Webhook[]): void {
  const seen = new Set<string>();
  for (const { type, name, path } of webhooks) {
    if (name.split(".").length < 3)
      throw new Error(
        `webhook ${JSON.stringify(name)} needs a name with at least two dots: "check.backups.example.com"`,
      );
    for (const key of [path, `${type} ${name}`]) {
      if (seen.has(key)) throw new Error(`there are two webhooks ${key}: give one of them a name of its own`);
      seen.add(key);
    }
  }
}

/**
 * Webhooks in this process, for an API server that is in it, too: `createApiServer({ webhooks: webhooksInProcess([…]) })`. What is
 * called is found by the path of its URL, whatever its host; nothing is sent anywhere, so that they serve in virtual time.
 */
export function webhooksInProcess(
  webhooks: readonly Webhook[],
): (call: { readonly url: string; readonly body: unknown }) => Promise<CallAnswer> {
  checkWebhooks(webhooks);
  // As over the wire: nobody shares objects with the API server.
  return ({ url, body }) => answerCall(webhooks, new URL(url).pathname, JSON.parse(JSON.stringify(body)));
}
