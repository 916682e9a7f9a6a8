import { ReviewError, type Webhook } from "./webhook.js";

/** Response to a webhook call: JSON, or an error message. */
export interface CallAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Answers a review with the webhook of a path. Never rejects: failures become a status and a message, which the API
 * server reports.
 */
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

/** @throws Error when a name has fewer than two dots, or two webhooks have the same path, or the same type and name. */
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
 * Webhooks in this process, for an API server in the same process: `createApiServer({ webhooks: webhooksInProcess([…])
 * })`. The path of the called URL selects the webhook, its host is ignored. There is no network I/O, so they work in
 * simulated time.
 */
export function webhooksInProcess(
  webhooks: readonly Webhook[],
): (call: { readonly url: string; readonly body: unknown }) => Promise<CallAnswer> {
  checkWebhooks(webhooks);
  // Copies the body, as over the network: webhooks must not share objects with the API server.
  return ({ url, body }) => answerCall(webhooks, new URL(url).pathname, JSON.parse(JSON.stringify(body)));
}
