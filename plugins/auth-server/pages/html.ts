/** A piece of HTML that is safe to send: made by {@link html} only. */
export interface Html {
  readonly markup: string;
}

/** What a template may contain. Texts are escaped, also inside of quoted attributes; `undefined` is nothing. */
export type HtmlValue = string | Html | undefined | readonly (Html | undefined)[];

/** Template tag: every inserted text is escaped. Attributes have to be written with double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const markup = parts.map((part, index) => part + markupOf(values[index]));
  return { markup: markup.join('') };
}

function markupOf(value: HtmlValue): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return escaped(value);
  return 'markup' in value ? value.markup : value.map(markupOf).join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
