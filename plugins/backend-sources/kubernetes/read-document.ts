import { explainIssues } from '@toolmgr/core';
import { type BackendsDocument, backendsDocument } from '@toolmgr/plugins/kit/kubernetes';

/** Largest document; the API server refuses larger config maps. */
export const MAX_DOCUMENT_BYTES = 1_048_576;

/**
 * Parses the document of the operator.
 * @throws Error with one line per problem
 */
export function readDocument(text: string): BackendsDocument {
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) throw new Error(`larger than ${MAX_DOCUMENT_BYTES} bytes`);
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error('no valid JSON');
  }
  const read = backendsDocument.safeParse(given);
  if (!read.success) {
    throw new Error(explainIssues('', backendsDocument, read.error).slice(0, SHOWN_PROBLEMS).join('\n'));
  }
  const names = new Set<string>();
  for (const [index, { name, url }] of read.data.backends.entries()) {
    if (names.has(name)) throw new Error(`backends[${index}].name: ${name} is a duplicate`);
    names.add(name);
    if (!isUrl(url)) throw new Error(`backends[${index}].url: expected an http or https URL without a password`);
  }
  return read.data;
}

function isUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.password === '' && url.username === '';
}

const SHOWN_PROBLEMS = 10;
