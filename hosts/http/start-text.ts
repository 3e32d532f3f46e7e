import type { IncomingHttpHeaders } from 'node:http';
import { DEFAULT_ORIGINS, type Gateway } from '@toolmgr/core';
import type { HostRoute } from './mount.ts';

/** Whether a client is a browser that opens a page. */
export function acceptsHtml({ accept = '' }: IncomingHttpHeaders): boolean {
  return accept.includes('text/html');
}

/** What this address is, in a few lines; with the backends when `gateway` is given. */
export function startText(
  headers: IncomingHttpHeaders,
  mcpPath: string,
  gateway?: Pick<Gateway, 'name' | 'backends' | 'catalog'>,
): string {
  const origin = `http://${HOST.exec(headers.host ?? '')?.[0] ?? 'localhost'}`;
  const lines = [
    `toolmgr: an MCP endpoint (Model Context Protocol). Clients use ${origin}${mcpPath}`,
    `Pages in a browser may connect from this address, and from MCP Inspector (${DEFAULT_ORIGINS[0]}) or from the configured origins`,
  ];
  if (gateway !== undefined) {
    const tools = gateway.catalog().visible('tool');
    for (const { backend, status } of gateway.backends()) {
      const count = tools.filter((tool) => tool.backend === backend.name).length;
      lines.push(`  ${backend.name}: ${status}, ${count} ${count === 1 ? 'tool' : 'tools'}`);
    }
    lines.push(`Tools and configuration for clients, in a browser: ${origin}/`);
  }
  return `${lines.join('\n')}\n`;
}

const HOST = /^[A-Za-z0-9.[\]:-]{1,255}$/;

/**
 * `/` of an endpoint whose data is protected: says what it is and the address for clients, and nothing about backends or tools.
 * Without scripts and styles.
 */
export function plainStartRoute(mcpPath: string): HostRoute {
  return {
    path: '/',
    answer(_, { headers }) {
      const text = startText(headers, mcpPath);
      if (!acceptsHtml(headers)) return { status: 200, type: 'text/plain', body: text };
      const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>toolmgr</title><p>${escaped(text.trim())}</p></html>\n`;
      return { status: 200, type: 'text/html; charset=utf-8', headers: PLAIN_HEADERS, body };
    },
  };
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}

const PLAIN_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};
