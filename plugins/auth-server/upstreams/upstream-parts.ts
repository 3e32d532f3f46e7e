import type { Log } from '@toolmgr/core';
import type { UpstreamConfig } from './config.ts';
import type { ProviderHttp } from './provider/provider-http.ts';

/** What an upstream of any type is made of. */
export interface UpstreamParts {
  readonly provider: UpstreamConfig;
  readonly redirectUri: string;
  readonly http: ProviderHttp;
  readonly log: Log;
  /** Epoch milliseconds. */
  now(): number;
}
