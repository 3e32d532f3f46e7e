/**
 * The same JSON with comments and trailing commas blanked out: positions and line numbers stay.
 * Editors write their configuration files in this form.
 */
export function withoutComments(text: string): string {
  const out = [...text.replace(/^\uFEFF/, ' ')];
  let at = 0;
  let lastComma = -1;
  const blank = (from: number, to: number): void => {
    for (let index = from; index < to; index++) if (out[index] !== '\n') out[index] = ' ';
  };
  while (at < out.length) {
    const char = out[at];
    if (char === '"') {
      at = afterString(out, at);
      lastComma = -1;
    } else if (char === '/' && (out[at + 1] === '/' || out[at + 1] === '*')) {
      const end = out[at + 1] === '/' ? afterLine(out, at) : afterBlock(out, at);
      blank(at, end);
      at = end;
    } else {
      if (char === ',') lastComma = at;
      else if ((char === '}' || char === ']') && lastComma !== -1) blank(lastComma, lastComma + 1);
      if (char !== ',' && !/\s/.test(char ?? '')) lastComma = -1;
      at++;
    }
  }
  return out.join('');
}

function afterString(chars: readonly string[], start: number): number {
  let at = start + 1;
  while (at < chars.length && chars[at] !== '"') at += chars[at] === '\\' ? 2 : 1;
  return at + 1;
}

function afterLine(chars: readonly string[], start: number): number {
  let at = start;
  while (at < chars.length && chars[at] !== '\n') at++;
  return at;
}

function afterBlock(chars: readonly string[], start: number): number {
  let at = start + 2;
  while (at < chars.length && !(chars[at] === '*' && chars[at + 1] === '/')) at++;
  return Math.min(at + 2, chars.length);
}
