import { explainCause, GatewayFault, type RouteTable } from '@toolmgr/core';
import { problemPage } from '../pages/problem-page.ts';
import { createCallback } from './callback.ts';
import { connectPath, createConnectPages } from './connect.ts';
import { createConnectionsPages } from './connections.ts';
import {
  basePath,
  type PageAnswer,
  pathsBelow,
  type SignInContext,
  type SignInParts,
  signInContext,
} from './context.ts';
import { createInteractionPage } from './interaction-page.ts';
import { PROBLEMS } from './problems.ts';

/** The pages on which people sign in and connect accounts. */
export interface SignIn {
  /** Mounts the pages below the path of their base URL, and at the root for proxies that remove this path. */
  mount(routes: RouteTable): void;
  /** A link with which this person, and no one else, connects this provider. It is valid for 10 minutes. */
  connectUrl(person: string, provider: string): string;
}

/** Creates the pages. */
export function createSignIn(parts: SignInParts): SignIn {
  const context = signInContext(parts);
  const { browserBase, callbackUrls, keys, log, paths } = context;
  const { origin, host } = new URL(browserBase);
  for (const url of callbackUrls.filter((each) => new URL(each).host !== host)) {
    // the browser would come back without the cookies of the pages
    log.warn(`sign-in: a provider redirects to another host than ${host}; set its redirectUri`, { redirectUri: url });
  }
  const base = basePath(browserBase);
  const pathsOf = (url: string): readonly string[] => {
    const { pathname } = new URL(url);
    return pathname.startsWith(`${base}/`) ? [pathname, pathname.slice(base.length)] : [pathname];
  };
  const interaction = createInteractionPage(context);
  const callback = createCallback(context);
  const connect = createConnectPages(context);
  const connections = createConnectionsPages(context);
  return {
    connectUrl: (person, provider) => `${origin}${connectPath(paths, keys.ticket(person, provider))}`,
    mount(routes) {
      const options = { origins: [origin] };
      const page = (method: 'GET' | 'POST', path: string, answer: PageAnswer, add = routes.add): void =>
        add.call(routes, method, path, answered(context, answer), options);
      const bases = [...new Set([base, ''])].map(pathsBelow);
      for (const at of bases) {
        page('GET', at.signIn, interaction.get, routes.addBelow);
        page('POST', at.signIn, interaction.post, routes.addBelow);
        page('GET', at.connect, connect.get);
        page('POST', at.connect, connect.post);
        page('GET', at.connections, connections.get);
        page('POST', at.connections, connections.post);
      }
      const callbacks = [...bases.map((at) => at.callback), ...callbackUrls.flatMap(pathsOf)];
      for (const path of new Set(callbacks)) page('GET', path, callback);
    },
  };
}

/** Sends what a page answers; its faults become pages without details. */
function answered({ log }: SignInContext, answer: PageAnswer): Parameters<RouteTable['add']>[2] {
  return async (inbound, body, responder) => {
    try {
      const { status, headers, body: text } = await answer(inbound, body);
      responder.send(status, headers, text);
    } catch (cause) {
      const isAway = cause instanceof GatewayFault && cause.status === 503;
      log.error('sign-in: a page failed', { method: inbound.method, path: inbound.path, cause: explainCause(cause) });
      const { status, headers, body: text } = problemPage(isAway ? PROBLEMS.unavailable : PROBLEMS.broken);
      responder.send(status, headers, text);
    }
  };
}
