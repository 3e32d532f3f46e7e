import { jsonSize } from './json-size.ts';

/** Bounds of the arguments of one tool call: the gateway may have to decode them on its own thread. */
const MAX_BYTES = 1_048_576;
const MAX_MEMBERS = 20_000; // at any depth; decoding so many takes about 20 ms
const MAX_DEPTH = 200; // the gateway's codec has a limit of 256

/** Encoded arguments for the gateway, or why they are invalid. */
export type CallArguments = { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly problem: string };

/**
 * Checks on the script's thread that the arguments of a tool call are one JSON object within bounds, so that the gateway
 * need not decode them.
 *
 * Shape: the bytes have their own buffer, which can be transferred; no object has duplicate members.
 */
export function callArguments(text: string): CallArguments {
  if (Buffer.byteLength(text) > MAX_BYTES) return { problem: `the arguments are larger than ${MAX_BYTES} bytes` };
  const { depth, members } = jsonSize(text, { depth: MAX_DEPTH, members: MAX_MEMBERS });
  if (depth > MAX_DEPTH) return { problem: `the arguments are nested deeper than ${MAX_DEPTH}` };
  if (members > MAX_MEMBERS) return { problem: `the arguments have more than ${MAX_MEMBERS} members` };
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problem: 'the arguments are not a JSON object' };
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
