/** A browser without scripts: cookies, redirects, pages that continue by themselves, and the first button of a form. */
export interface HttpBrowser {
  /** Titles of the pages that were shown, in order. */
  readonly shown: readonly string[];
  /**
   * Opens a URL and continues until a page has neither a form nor a continuation, or until a URL begins with `stopAt`, which is
   * not opened. Returns the last URL.
   */
  open(url: string | URL, stopAt?: string): Promise<URL>;
}

const MAX_STEPS = 40;

/** Makes a browser without cookies. */
export function httpBrowser(): HttpBrowser {
  const cookies = new Map<string, { readonly path: string; readonly value: string }>();
  const shown: string[] = [];

  const send = async (url: URL, form?: URLSearchParams): Promise<Response> => {
    const cookie = [...cookies]
      .filter(([key, { path }]) => key.startsWith(`${url.host} `) && isBelow(url.pathname, path))
      .map(([key, { value }]) => `${key.split(' ')[1]}=${value}`)
      .join('; ');
    const headers = { cookie, accept: 'text/html', ...(form === undefined ? {} : { origin: url.origin }) };
    const init = form === undefined ? {} : { method: 'POST', body: form };
    const answer = await fetch(url, { redirect: 'manual', headers, signal: AbortSignal.timeout(20_000), ...init });
    for (const line of answer.headers.getSetCookie()) keep(url, line);
    return answer;
  };

  const keep = (url: URL, line: string): void => {
    const [pair = '', ...attributes] = line.split(/;\s*/);
    const at = pair.indexOf('=');
    const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/';
    const key = `${url.host} ${pair.slice(0, at)} ${path}`;
    if (attributes.some((each) => /^max-age=0|^expires=thu, 01 jan 1970/i.test(each))) cookies.delete(key);
    else cookies.set(key, { path, value: pair.slice(at + 1) });
  };

  return {
    shown,
    async open(first, stopAt) {
      let url = new URL(first);
      let form: URLSearchParams | undefined;
      for (let step = 0; step < MAX_STEPS; step++) {
        if (stopAt !== undefined && url.href.startsWith(stopAt)) return url;
        const answer = await send(url, form);
        form = undefined;
        const location = answer.headers.get('location');
        if (location !== null) {
          url = new URL(location, url);
          continue;
        }
        const text = await answer.text();
        shown.push(`${answer.status} ${/<title>([^<]*)</.exec(text)?.[1] ?? text.slice(0, 200)}`);
        if (answer.status >= 400) throw new Error(`${shown.join(' -> ')} at ${url.href}: ${wordsOf(text)}`);
        const next = continuation(answer, text);
        const filled = next === undefined ? formIn(text) : undefined;
        if (next === undefined && filled === undefined) return url;
        form = filled?.fields;
        url = new URL(next ?? filled?.action ?? '', url);
      }
      throw new Error(`more than ${MAX_STEPS} steps: ${shown.join(' -> ')}`);
    },
  };
}

/** The text of a page. */
function wordsOf(text: string): string {
  const body = text.replace(/<style[\s\S]*?<\/style>/g, ' ').replace(/<[^>]*>/g, ' ');
  return body.replace(/\s+/g, ' ').slice(0, 500);
}

function isBelow(pathname: string, path: string): boolean {
  return path === '/' || pathname === path || pathname.startsWith(`${path.replace(/\/$/, '')}/`);
}

function continuation(answer: Response, text: string): string | undefined {
  const refresh = answer.headers.get('refresh') ?? /http-equiv="refresh" content="([^"]+)"/i.exec(text)?.[1];
  const url = /url=(.+)$/i.exec(refresh ?? '')?.[1];
  return url === undefined ? undefined : decoded(url);
}

/** The first form of a page with the button that a person presses to agree: the first one. */
function formIn(text: string): { readonly action: string; readonly fields: URLSearchParams } | undefined {
  const [, action, body = ''] = /<form method="post" action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/.exec(text) ?? [];
  if (action === undefined) return undefined;
  const fields = new URLSearchParams();
  for (const [, name = '', value = ''] of body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)) {
    fields.append(name, decoded(value));
  }
  const [, name, value = ''] = /<button name="([^"]+)" value="([^"]*)"/.exec(body) ?? [];
  if (name !== undefined) fields.append(name, decoded(value));
  return { action: decoded(action), fields };
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&' };

function decoded(text: string): string {
  return text.replace(/&(?:#(\d+)|([a-z]+));/g, (whole, code: string | undefined, name: string) =>
    code === undefined ? (ENTITIES[name] ?? whole) : String.fromCodePoint(Number(code)),
  );
}
