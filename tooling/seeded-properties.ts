/**
 * Before each file of tests: properties are tried with the same values in every run, so that what a run of all tests says does
 * not depend on luck. `npm run test:heavy` draws others each time, and a property that fails tells its seed.
 */
import { configureGlobal } from "fast-check";

if (process.env["KUBEWRIGHT_HEAVY"] !== "1") configureGlobal({ seed: 1 });
