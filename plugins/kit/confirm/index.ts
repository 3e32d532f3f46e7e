/** Asking the person behind a client whether a tool may run. */
export { CANNOT_ASK, type Confirmation, confirm, isAnswered, type Purpose, withoutAnswer } from './confirm.ts';
export { MAX_QUESTION, questionAbout, toolOf } from './question.ts';
