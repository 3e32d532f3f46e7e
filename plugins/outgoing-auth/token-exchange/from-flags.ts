import { present } from '@toolmgr/core';
import { type FromFlags, secretNameOf } from '@toolmgr/plugins/kit/workloads';

/** The token of the caller is exchanged at a token endpoint. */
export const fromFlags: FromFlags = {
  where: '--token-exchange options',
  plan({ token_exchange_config: given }) {
    if (given === undefined) return {};
    const options = present({
      tokenUrl: given.token_url,
      audience: given.audience,
      clientId: given.client_id,
      clientSecretEnv: given.client_secret && secretNameOf(given.client_secret),
      scopes: given.scopes,
      subjectTokenType: given.subject_token_type,
      headerName: given.header_strategy === 'custom' ? given.external_token_header_name : undefined,
    });
    return { strategy: { type: 'token_exchange', options } };
  },
};
