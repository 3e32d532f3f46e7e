import { jsonSize } from './json-size.ts';

/** Bounds of the arguments of one tool call: the gateway may have to decode them between the requests of others. */
const MAX_BYTES = 1_048_576;
const MAX_MEMBERS = 20_000; // at any depth; so many take the gateway some 20 ms
const MAX_DEPTH = 200; // the gateway's own codec ends at 256

/** Arguments as they are sent to the gateway, or why they are not. */
export type CallArguments = { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly problem: string };

/**
 * Checks the arguments of a tool call on the script's own thread, so that the gateway need not decode them to know that
 * they are one JSON object within bounds.
 *
 * Shape: the bytes are in a buffer of their own, which may be transferred; no object in them has a member twice.
 */
export function callArguments(text: string): CallArguments {
  if (Buffer.byteLength(text) > MAX_BYTES) return { problem: `the arguments are larger than ${MAX_BYTES} bytes` };
  const { depth, members } = jsonSize(text, { depth: MAX_DEPTH, members: MAX_MEMBERS });
  if (depth > MAX_DEPTH) return { problem: `the arguments are nested deeper than ${MAX_DEPTH}` };
  if (members > MAX_MEMBERS) return { problem: `the arguments have more than ${MAX_MEMBERS} members` };
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problem: 'the arguments are no JSON object' };
  }
  return { bytes: encoder.encode(JSON.stringify(value)) };
}

const encoder = new TextEncoder();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
