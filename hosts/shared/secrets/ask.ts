import { AskAborted, askHidden } from '@toolmgr/plugins/secrets';
import { Interrupted } from '../usage-error.ts';

/** Asks for one line on the terminal without showing it. @throws Interrupted when the user does not answer */
export async function ask(question: string): Promise<string> {
  try {
    return await askHidden(question);
  } catch (cause) {
    throw cause instanceof AskAborted ? new Interrupted(cause.message) : cause;
  }
}
