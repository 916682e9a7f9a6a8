export { ClusterReader } from "../why/cluster-reader.js";
export { cronJobText, editText } from "../why/cron-job-text.js";
export { explainCronJob } from "../why/explain-cron-job.js";
export { explainJob } from "../why/explain-job.js";
export { explanationJson } from "../why/explanation-json.js";
export { jobText } from "../why/job-text.js";
export { explainEdit } from "../why/schedule-edit.js";

export type { CronJobExplanation } from "../why/explain-cron-job.js";
export type { JobExplanation } from "../why/explain-job.js";
export type { EditExplanation } from "../why/schedule-edit.js";
