import { createHash } from 'node:crypto';

/** Different values that one label may take in the life of a gateway; what comes later is {@link OTHER}. */
export const MAX_LABEL_VALUES = 1_000;
/** Bytes of a label value that are kept. */
const MAX_LABEL_BYTES = 128; // reference: telemetry, mcp_resource_id
/** Stands for every value over the bound, and for what a client made up. */
export const OTHER = '_OTHER';

/**
 * Makes the function that lets a value through as a label while there is room. What a gateway has served keeps its series;
 * lists that change for ever cannot make new ones for ever.
 */
export function boundedLabels(maxValues = MAX_LABEL_VALUES): (value: string) => string {
  const known = new Map<string, string>();
  return (value) => {
    const label = known.get(value);
    if (label !== undefined) return label;
    if (known.size >= maxValues) return OTHER;
    const short = shortened(value);
    known.set(value, short);
    return short;
  };
}

/** A long value keeps its beginning; the end of its hash keeps it apart from others that begin alike. */
function shortened(value: string): string {
  if (Buffer.byteLength(value) <= MAX_LABEL_BYTES) return value;
  const hash = createHash('sha256').update(value).digest('hex').slice(0, 8);
  const head = Buffer.from(value).subarray(0, MAX_LABEL_BYTES - 12);
  return `${head.toString('utf8').replace(/\ufffd+$/, '')}…${hash}`;
}
