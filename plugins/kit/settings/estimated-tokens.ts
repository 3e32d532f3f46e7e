/** Rule of thumb: four bytes of JSON are one token. Tokenizers of models differ, and none is needed for a bound. */
export const BYTES_PER_TOKEN = 4;

/** An estimate of the tokens that JSON of so many bytes takes. */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
