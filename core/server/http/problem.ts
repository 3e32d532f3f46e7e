import type { Responder } from '../../contract/inbound.ts';
import { FAULTS, type FaultCode } from '../../errors.ts';

/** Sends an RFC 9457 problem document: the response to requests that are refused before MCP. */
export function sendProblem(
  responder: Responder,
  code: FaultCode,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { status, means } = FAULTS[code];
  const problem = { type: 'about:blank', title: means, status, detail, code };
  responder.send(status, { 'content-type': 'application/problem+json', ...headers }, JSON.stringify(problem));
}
