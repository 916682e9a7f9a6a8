/**
 * Runs before each test file. Properties are tested with the same values in every run, so that the result of a full
 * test run is reproducible. `npm run test:heavy` uses new values each time, and a failing property prints its seed.
 */
import { configureGlobal } from "fast-check";

if (process.env["KUBEWRIGHT_HEAVY"] !== "1") configureGlobal({ seed: 1 });
