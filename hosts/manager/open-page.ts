import { stderr } from '../shared/terminal.ts';
import { UsageError } from '../shared/usage-error.ts';
import { openBrowser } from '../workloads/login/open-browser.ts';
import { readDiscovery } from './server-files/discovery-file.ts';
import { openToken } from './server-files/token-file.ts';

const TIMEOUT_MS = 5_000;

/**
 * Opens the page of the manager that serves a state folder; `false` when none runs.
 * @throws UsageError when it runs but has no page for a browser, or does not answer
 */
export async function openRunningPage(state: string): Promise<boolean> {
  const found = await readDiscovery(state);
  if (found === undefined) return false;
  if (!found.url.startsWith('http')) throw new UsageError(`the manager serves ${found.url}, which no browser can open`);
  const health = await fetch(`${found.url}/health`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => undefined);
  // the file may be of a killed manager, and another program may have its port: it must not get the token
  if (health?.headers.get('x-toolmgr-nonce') !== found.nonce) return false;
  const answer = await fetch(`${found.url}/api/v1beta/page/codes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await openToken(state)}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!answer.ok) throw new UsageError(`the manager at ${found.url} answered ${answer.status}`);
  const { code } = (await answer.json()) as { readonly code: string };
  await showPage(found.url, code);
  return true;
}

/** Prints the link to the page and opens it in the browser. */
export async function showPage(url: string, code: string): Promise<void> {
  const link = pageLink(url, code);
  stderr.line(`toolmgr: opens ${link}`);
  await openBrowser(link);
}

/** The link signs the page in once. A browser does not send what follows `#`. */
export function pageLink(url: string, code: string): string {
  return `${url}/#code=${code}`;
}
