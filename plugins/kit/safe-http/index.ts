/** HTTP to configured URLs: no private addresses, no redirects, bounded time and bytes. */
export type { ConnectRules } from './guarded-connector.ts';
export {
  createRemoteHttp,
  JSON_TYPES,
  jsonBody,
  type RemoteAnswer,
  type RemoteHttp,
  type RemoteRequest,
} from './remote-http.ts';
