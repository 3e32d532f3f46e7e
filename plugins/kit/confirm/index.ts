/** Asking the person behind a client whether a tool may run. */
export { type Confirmation, confirm, isAnswered, withoutAnswer } from './confirm.ts';
export { MAX_QUESTION, questionAbout } from './question.ts';
