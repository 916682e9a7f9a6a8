/** A program with webhooks and without the optional peer `selfsigned`. It prints the error's only line. */
import { realClock } from "@kubewright/clock";
import { ownCertificate } from "@kubewright/operator/webhooks";

await ownCertificate(["localhost"], realClock)().catch((error: Error) => console.log(error.message));
