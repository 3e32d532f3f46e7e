/** Steps of one composite. */
export const MAX_STEPS = 100;
/** Steps of one workflow that run at once. */
export const MAX_PARALLEL_STEPS = 10;
/** The most that `maxParallel` of a forEach step gives. */
export const MAX_PARALLEL_ITERATIONS = 50;
/** The most that `maxIterations` of a forEach step may say. Source: vmcp spec §8. */
export const MAX_ITERATIONS = 1000;
/** Retries of one step; `retryCount` over it counts as this. */
export const MAX_RETRIES = 10;
/** The longest wait before a retry, as a multiple of `retryDelay`. */
export const MAX_DELAY_FACTOR = 60;
/** Milliseconds before the first retry when the file says nothing. */
export const RETRY_DELAY_MS = 1_000;
/** Milliseconds of a workflow when the file says nothing. */
export const WORKFLOW_TIMEOUT_MS = 1_800_000;
/** Milliseconds of a step when the file says nothing, questions included. */
export const STEP_TIMEOUT_MS = 300_000;
/** The longest that a question waits, in milliseconds. */
export const MAX_QUESTION_MS = 600_000;
/** Results inside one another: output properties, forms and their answers. */
export const MAX_DEPTH = 10;
/** Values inside one another in the arguments of a step. */
export const MAX_ARGUMENT_DEPTH = 100;
/** Bytes of one question's schema. */
export const MAX_SCHEMA_BYTES = 100 * 1024;
/** Bytes of one answer to a question. */
export const MAX_ANSWER_BYTES = 1024 * 1024;
/** Bytes of results that one running workflow keeps; the step that brings more fails. */
export const MAX_STATE_BYTES = 64 * 1024 * 1024;
/** Bytes of all expanded strings of one step's arguments. */
export const MAX_EXPANDED_BYTES = 10 * 1024 * 1024;
/** Characters of one error text that a workflow passes on. */
export const MAX_ERROR_LENGTH = 2_000;
