import { spendText } from './limits.ts';
import { joinedText } from './print-value.ts';
import { isPrintable } from './quote.ts';
import { ANY_NUMBER, type TemplateFunction } from './template-function.ts';

/** Functions that make the text of their arguments safe in HTML, JavaScript strings and URL queries. */
export const escapeFunctions = {
  html: escaper((text) => text.replace(/[\0"'&<>]/g, (character) => HTML[character] ?? '')),
  js: escaper((text) => text.replace(/[^\x20-\x7f]|[\\'"<>&=]/gu, escapedForScript)),
  urlquery: escaper(queryEscaped),
} as const satisfies Record<string, TemplateFunction>;

function escaper(safe: (text: string) => string): TemplateFunction {
  return {
    arity: [0, ANY_NUMBER],
    takes: 'any',
    run: (values, budget) => {
      const text = joinedText(
        values.map((value) => value ?? '<no value>'),
        budget,
      );
      spendText(budget, text.length);
      const escaped = safe(text.toWellFormed());
      spendText(budget, escaped.length);
      return escaped;
    },
  };
}

const HTML: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

const SCRIPT: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '"': '\\"' };

function escapedForScript(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point >= 0x80 && isPrintable(character)) return character;
  return SCRIPT[character] ?? `\\u${point.toString(16).toUpperCase().padStart(4, '0')}`;
}

function queryEscaped(text: string): string {
  const escaped = encodeURIComponent(text).replace(/[!'()*]/g, percent);
  return escaped.replaceAll('%20', '+');
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
