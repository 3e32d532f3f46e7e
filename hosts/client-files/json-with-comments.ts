import { GatewayFault, type JsonValue } from '@toolmgr/core';
import { getNodeValue, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

/**
 * Parses JSON with comments and trailing commas, the form of editors' configuration files.
 * @throws GatewayFault PLAN_INVALID with `file:line:column` of the first error; the text is not quoted, because it may hold secrets
 */
export function parseJsonWithComments(text: string, file: string): JsonValue {
  const plain = text.replace(/^\uFEFF/, '');
  const errors: ParseError[] = [];
  try {
    const root = parseTree(plain, errors, { allowTrailingComma: true });
    if (root !== undefined && errors.length === 0) return getNodeValue(root) as JsonValue;
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause; // the parser calls itself for each level
    throw new GatewayFault('PLAN_INVALID', `${file}: its lists and objects are nested too deeply`);
  }
  const [first] = errors;
  const before = plain.slice(0, first?.offset ?? 0).split('\n');
  const column = (before.at(-1) ?? '').length + 1;
  const why = first === undefined ? 'value expected' : wordsOf(first);
  throw new GatewayFault('PLAN_INVALID', `${file}:${before.length}:${column}: not JSON: ${why}`);
}

/** `CloseBraceExpected` as `close brace expected`. */
function wordsOf({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replace(/\B[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();
}
