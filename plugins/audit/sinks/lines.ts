/** The lines of a batch, without their line breaks. Every line of a batch ends with one. */
export function splitLines(bytes: Buffer): string[] {
  const lines = bytes.toString('utf8').split('\n');
  lines.pop();
  return lines;
}
