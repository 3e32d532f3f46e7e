/** Whether a text has more than `bytes` bytes in UTF-8. A short text is not counted. */
export function isLongerThan(text: string, bytes: number): boolean {
  if (text.length * MOST_PER_UNIT <= bytes) return false;
  return text.length > bytes || Buffer.byteLength(text) > bytes;
}

const MOST_PER_UNIT = 3; // bytes in UTF-8 of one UTF-16 code unit
