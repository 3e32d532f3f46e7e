/** The longest start of a text that takes at most `bytes` as a JSON string, and splits no character. */
export function fitting(text: string, bytes: number): string {
  let most = Math.min(text.length, Math.max(0, bytes));
  if (jsonLength(text.slice(0, most)) <= bytes) return whole(text.slice(0, most));
  let fits = 0;
  while (most - fits > 1) {
    const middle = (fits + most) >> 1;
    if (jsonLength(text.slice(0, middle)) <= bytes) fits = middle;
    else most = middle;
  }
  return whole(text.slice(0, fits));
}

function jsonLength(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - QUOTES;
}

const QUOTES = 2;

/** Without half of a surrogate pair at its end. */
function whole(text: string): string {
  return text.isWellFormed() ? text : text.replace(HALF_AT_END, '');
}

const HALF_AT_END = /[\uD800-\uDBFF]$/;
