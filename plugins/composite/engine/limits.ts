/** Steps of one composite tool. */
export const MAX_STEPS = 100;
/** Steps of one workflow that run in parallel. */
export const MAX_PARALLEL_STEPS = 10;
/** Upper bound of `maxParallel` of a forEach step. */
export const MAX_PARALLEL_ITERATIONS = 50;
/** Upper bound of `maxIterations` of a forEach step. Source: vmcp spec §8. */
export const MAX_ITERATIONS = 1000;
/** Retries of one step; a larger `retryCount` is reduced to this. */
export const MAX_RETRIES = 10;
/** The longest wait before a retry, as a multiple of `retryDelay`. */
export const MAX_DELAY_FACTOR = 60;
/** Default delay before the first retry, in milliseconds. */
export const RETRY_DELAY_MS = 1_000;
/** Default timeout of a workflow, in milliseconds. */
export const WORKFLOW_TIMEOUT_MS = 1_800_000;
/** Default timeout of a step, elicitation included, in milliseconds. */
export const STEP_TIMEOUT_MS = 300_000;
/** Longest timeout of an elicitation, in milliseconds. */
export const MAX_QUESTION_MS = 600_000;
/** Nesting depth of output properties, forms and their answers. */
export const MAX_DEPTH = 10;
/** Nesting depth of the arguments of a step. */
export const MAX_ARGUMENT_DEPTH = 100;
/** Bytes of the schema of one elicitation. */
export const MAX_SCHEMA_BYTES = 100 * 1024;
/** Bytes of one answer. */
export const MAX_ANSWER_BYTES = 1024 * 1024;
/** Bytes of results that one workflow keeps; the step that exceeds them fails. */
export const MAX_STATE_BYTES = 64 * 1024 * 1024;
/** Bytes of all expanded strings of one step's arguments. */
export const MAX_EXPANDED_BYTES = 10 * 1024 * 1024;
/** Characters of one error text; longer ones are cut. */
export const MAX_ERROR_LENGTH = 2_000;
