import { existsSync } from 'node:fs';

/** A person with a browser. */
export interface PersonalBrowser extends AsyncDisposable {
  readonly kind: string;
  /** Opens a URL, and presses the buttons with these names on the pages that follow. Returns the text of the last page. */
  open(url: string, ...buttons: readonly string[]): Promise<string>;
}

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const WAIT_MS = 30_000;

/** Headless Chromium where it is installed; else a few lines that follow redirects and send forms. */
export function openBrowser(): Promise<PersonalBrowser> {
  return existsSync(CHROMIUM) ? chromium() : Promise.resolve(httpOnly());
}

async function chromium(): Promise<PersonalBrowser> {
  const { chromium: engine } = await import('playwright-core');
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  const browser = await engine.launch({ executablePath: CHROMIUM, args, timeout: 2 * WAIT_MS });
  const context = await browser.newContext();
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  return {
    kind: 'Chromium',
    async open(url, ...buttons) {
      await page.goto(url);
      for (const name of buttons) await page.getByRole('button', { name, exact: true }).click();
      await page
        .getByText(/the client has its code|is connected/)
        .first()
        .waitFor();
      return (await page.textContent('body')) ?? '';
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

const MAX_STEPS = 40;

function httpOnly(): PersonalBrowser {
  const cookies = new Map<string, string>();
  const send = async (url: URL, body?: URLSearchParams): Promise<Response> => {
    const own = [...cookies].filter(([key]) => key.startsWith(`${url.host} `));
    const cookie = own.map(([key, value]) => `${key.slice(url.host.length + 1)}=${value}`).join('; ');
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie, ...(body === undefined ? {} : { origin: url.origin }) },
      signal: AbortSignal.timeout(WAIT_MS),
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const isGone = value === '' || /expires=thu, 01 jan 1970|max-age=0/i.test(line);
      if (isGone) cookies.delete(`${url.host} ${name}`);
      else cookies.set(`${url.host} ${name}`, value);
    }
    return answer;
  };
  return {
    kind: 'requests without a browser',
    async open(first, ...buttons) {
      let url = new URL(first);
      let form: URLSearchParams | undefined;
      const wanted = [...buttons];
      for (let step = 0; step < MAX_STEPS; step++) {
        const answer = await send(url, form);
        const text = await answer.text();
        const next = answer.headers.get('location') ?? continuation(text);
        if (next !== undefined) {
          [url, form] = [new URL(next, url), undefined];
          continue;
        }
        const name = wanted.shift();
        if (name === undefined) return text.replaceAll(/<[^>]*>/g, ' ');
        const pressed = press(text, name);
        if (pressed === undefined) throw new Error(`${answer.status}: ${url.pathname} has no button ${name}`);
        [url, form] = [new URL(pressed.action, url), pressed.fields];
      }
      throw new Error(`more than ${MAX_STEPS} pages from ${first}`);
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** Where a page without a button leads. */
function continuation(page: string): string | undefined {
  const url = /http-equiv="refresh" content="\d+;\s*url=([^"]+)"/i.exec(page)?.[1];
  return url === undefined ? undefined : decoded(url);
}

/** What the form with a button sends. */
function press(page: string, name: string) {
  const forms = page.matchAll(/<form method="post" action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g);
  for (const [, action = '', body = ''] of forms) {
    const buttons = [...body.matchAll(/<button([^>]*)>([\s\S]*?)<\/button>/g)];
    const [, attributes = ''] = buttons.find(([, , text = '']) => decoded(text).trim() === name) ?? [];
    if (attributes === '') continue;
    const fields = new URLSearchParams();
    for (const [, key = '', value = ''] of body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)) {
      fields.append(key, decoded(value));
    }
    const [, key, value = ''] = /name="([^"]+)" value="([^"]*)"/.exec(attributes) ?? [];
    if (key !== undefined) fields.append(key, decoded(value));
    return { action: decoded(action), fields };
  }
  return undefined;
}

/** Character references as numbers, and the named ones of HTML that have a meaning in markup. */
function decoded(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return text.replaceAll(/&(?:#(\d+)|(amp|lt|gt|quot));/g, (_, code, name) =>
    code === undefined ? (named[name] ?? '') : String.fromCodePoint(Number(code)),
  );
}
