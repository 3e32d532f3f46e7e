import {
  type Call,
  CallRefused,
  type CallResult,
  type CatalogEntry,
  type Dispatch,
  decodeObject,
  definePlugin,
  isObject,
} from '@toolmgr/core';
import {
  CANNOT_ASK,
  confirm,
  isAnswered,
  MAX_QUESTION,
  questionAbout,
  toolOf,
  withoutAnswer,
} from '@toolmgr/plugins/kit/confirm';
import { createAnswers } from './answers.ts';
import { confirmationConfig } from './config.ts';

const ADDRESS = 'confirmation';
const PURPOSE = { address: ADDRESS };

/** Asks the person behind a client before the first call of each tool that its server calls destructive. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'asks the person behind a client before the first call of each destructive tool',
  config: confirmationConfig,
  apply(core, { cannotAsk }) {
    const answers = createAnswers(core.now);
    const isDestructive = destructiveTools();
    const ask = async (call: Call, dispatch: Dispatch): Promise<CallResult> => {
      const what = `Run the tool ${toolOf(call)}, which may change or delete data (later calls of it in this session run unasked)`;
      const question = questionAbout(what, call);
      if (question === undefined) throw refused(TOO_LONG);
      const answer = await confirm(call, question, PURPOSE);
      if (answer === 'declined') throw refused('the person declined');
      if (answer === 'cannotAsk' && cannotAsk === 'refuse') throw refused(CANNOT_ASK);
      if (typeof answer !== 'string') return answer;
      if (answer === 'confirmed') answers.add(call);
      return dispatch(withoutAnswer(call, PURPOSE));
    };
    // here, not in authorize: steps of composite tools are not authorized again
    core.hooks.wrapDispatch.tap(ADDRESS, (dispatch) => (call) => {
      const { method, target, backendState } = call;
      if (method !== 'tools/call' || target.held !== undefined || !isDestructive(target)) return dispatch(call);
      // a round that the backend asked for: the gateway has sealed its state, so the call was confirmed before
      if (backendState !== undefined && !isAnswered(call, PURPOSE)) return dispatch(call);
      return answers.has(call) ? dispatch(withoutAnswer(call, PURPOSE)) : ask(call, dispatch);
    });
  },
});

/**
 * Whether the annotations of a tool say `destructiveHint: true`; read once per entry. Not for tools of plugins: the tools that they call are
 * asked about.
 */
function destructiveTools(): (entry: CatalogEntry) => boolean {
  const known = new WeakMap<CatalogEntry, boolean>();
  return (entry) => {
    const before = known.get(entry);
    if (before !== undefined) return before;
    const { annotations } = entry.run === undefined ? (decodeObject(entry.definition) ?? {}) : {};
    const is = isObject(annotations) && annotations.destructiveHint === true && annotations.readOnlyHint !== true;
    known.set(entry, is);
    return is;
  };
}

function refused(reason: string): CallRefused {
  return new CallRefused({ refused: true, status: 403, reason });
}

const TOO_LONG = `a person must agree to it first, who is shown ${MAX_QUESTION} characters at most, and its arguments are longer or have numbers of more than 15 digits`;
