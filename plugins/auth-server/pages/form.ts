import { type Html, html } from './html.ts';

/** A form of a page. */
export interface Form {
  /** Path on this server. */
  readonly action: string;
  /** Proves that a page of ours sent the form. */
  readonly csrf: string;
  readonly hidden?: Readonly<Record<string, string>>;
  readonly buttons: readonly Button[];
}

/** A button that sends its form with `name=value`. */
export interface Button {
  readonly name: string;
  readonly value: string;
  readonly label: string;
  readonly kind?: 'strong' | 'danger' | 'plain';
  /** Id of an element that says more, when several buttons have the same label. */
  readonly describedBy?: string;
}

/** A form with buttons only. */
export function formOf({ action, csrf, hidden = {}, buttons }: Form): Html {
  const fields = Object.entries({ ...hidden, csrf });
  return html`<form method="post" action="${action}" class="choices">
${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${buttons.map(buttonOf)}
</form>`;
}

function buttonOf({ name, value, label, kind = 'plain', describedBy }: Button): Html {
  const described = describedBy === undefined ? undefined : html` aria-describedby="${describedBy}"`;
  return html`<button name="${name}" value="${value}" class="${kind}"${described}>${label}</button>\n`;
}
