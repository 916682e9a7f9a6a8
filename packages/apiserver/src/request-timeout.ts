import { type Reply, textReply } from "./reply.js";

/** The time the client allowed is over. Answered by the outermost layer of the server, which knows no negotiation. */
export class RequestTimeout extends Error {
  override readonly name = "RequestTimeout";

  get reply(): Reply {
    const status = {
      metadata: {},
      status: "Failure",
      message: "Timeout: request did not complete within the allotted timeout",
      reason: "Timeout",
      details: {},
      code: 504,
    };
    return textReply(504, `${JSON.stringify(status)}\n`);
  }
}
