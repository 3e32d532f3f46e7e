/** A page that shows a screen with ANSI colours as a terminal does. */
export function terminalPage(title: string, screen: string): string {
  return `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; display: inline-block; background: #fff }
figure { margin: 0; border-radius: 8px; background: #1b1f27; color: #d7dae0; overflow: hidden; font: 14px/1.35 'DejaVu Sans Mono', monospace }
figcaption { background: #2a2f3a; color: #9aa3b2; padding: 6px 14px; font-size: 12px }
pre { margin: 0; padding: 12px 14px; font: inherit }
</style><figure><figcaption>${escaped(title)}</figcaption><pre>${spansOf(screen)}</pre></figure>`;
}

/** Text with ANSI colours as HTML; other sequences are left out. */
export function spansOf(text: string): string {
  let style: Style = {};
  let html = '';
  for (const [, parameters, plain] of text.matchAll(PIECES)) {
    if (parameters !== undefined) style = styled(style, parameters.split(/[;:]/).map(Number));
    else if (plain !== undefined) html += spanOf(style, escaped(plain.replaceAll(OTHER_SEQUENCES, '')));
  }
  return html;
}

interface Style {
  readonly color?: string;
  readonly background?: string;
  readonly bold?: boolean;
  readonly faint?: boolean;
}

function spanOf({ color, background, bold, faint }: Style, text: string): string {
  const rules = [
    ...(color === undefined ? [] : [`color:${color}`]),
    ...(background === undefined ? [] : [`background:${background}`]),
    ...(bold ? ['font-weight:bold'] : []),
    ...(faint ? ['opacity:.6'] : []),
  ];
  return rules.length === 0 ? text : `<span style="${rules.join(';')}">${text}</span>`;
}

/** The style after the parameters of one SGR sequence (ECMA-48). */
function styled(before: Style, [code = 0, ...rest]: readonly number[]): Style {
  const extended = code === 38 || code === 48;
  const [color, left] = extended ? extendedColor(rest) : [PALETTE[(code % 10) + (code >= 90 ? 8 : 0)], rest];
  const change: Style =
    code === 1
      ? { bold: true }
      : code === 2
        ? { faint: true }
        : code === 22
          ? { bold: false, faint: false }
          : code === 39
            ? { color: undefined }
            : code === 49
              ? { background: undefined }
              : isForeground(code)
                ? { color }
                : code === 48 || (code >= 40 && code <= 47) || (code >= 100 && code <= 107)
                  ? { background: color }
                  : {};
  const next = code === 0 ? {} : { ...before, ...change };
  return left.length === 0 ? next : styled(next, left);
}

const isForeground = (code: number): boolean => (code >= 30 && code <= 38) || (code >= 90 && code <= 97);

function extendedColor([kind, ...rest]: readonly number[]): readonly [string | undefined, readonly number[]] {
  if (kind === 2) return [`rgb(${rest.slice(0, 3).join(',')})`, rest.slice(3)];
  const [n = 0, ...left] = rest;
  if (n < 16) return [PALETTE[n], left];
  if (n >= 232)
    return [
      `rgb(${Array(3)
        .fill((n - 232) * 10 + 8)
        .join(',')})`,
      left,
    ];
  const level = (step: number): number => (step === 0 ? 0 : step * 40 + 55);
  const m = n - 16;
  return [`rgb(${level(Math.floor(m / 36))},${level(Math.floor(m / 6) % 6)},${level(m % 6)})`, left];
}

const PALETTE: readonly string[] = [
  ...['#5c6370', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0'],
  ...['#7f8794', '#ef7f88', '#a9d48b', '#f0d08c', '#78bdf7', '#d28be6', '#6cc7d2', '#ffffff'],
];

const ESCAPE = String.fromCharCode(27);
/** A change of the style, or the text before the next one. */
const PIECES = new RegExp(`${ESCAPE}\\[([\\d;:]*)m|((?:(?!${ESCAPE}\\[[\\d;:]*m)[\\s\\S])+)`, 'g');
/** Sequences that are no style, and shifts of the character set. */
const OTHER_SEQUENCES = new RegExp(
  `${ESCAPE}(?:\\[[\\d;?]*[A-Za-z]|[()][A-Z0-9])|[${String.fromCharCode(14, 15)}]`,
  'g',
);

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
