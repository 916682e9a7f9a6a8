import { type Reply, textReply } from "./reply.js";

/** The request's timeout has expired. The outermost layer of the server answers it, without content negotiation. */
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
