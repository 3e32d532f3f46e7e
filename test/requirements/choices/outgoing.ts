import type { Section } from '../section.ts';

/** Decisions about credentials and headers on their way to backends. */
export const outgoing = [
  {
    source: 'choice: token exchange (docs/decisions/017)',
    says: {
      'choice.token-exchange.kept':
        'an exchanged token is kept per caller, token and backend until shortly before its end',
      'choice.token-exchange.single-flight': 'requests that need the same token at the same time share one exchange',
      'choice.token-exchange.renewed-on-401':
        'a kept token that the backend answers with 401 is made anew once, and the call is sent once more',
      'choice.token-exchange.discovery':
        'lists are read with a token of the gateway by client credentials when there is a client secret, else without',
      'choice.token-exchange.caller-lists':
        'a backend that refuses the gateway its lists is listed for each caller with the token of the caller, for that caller only',
      'choice.token-exchange.errors':
        "a caller's token that is not taken is the caller's matter (AUTH_STRATEGY_REFUSED), all else the operator's (AUTH_STRATEGY_FAILED)",
      'choice.token-exchange.recovers':
        'a token endpoint that is away fails callers at once for 2 s and is asked again after it',
      'choice.token-exchange.present-token': 'the token of the request at hand is exchanged, never that of the session',
      'choice.token-exchange.needs-tokens': 'token_exchange is refused at the start when no caller can have a token',
    },
  },
  {
    source: 'choice: accounts that are connected later (docs/decisions/048)',
    says: {
      'choice.connect-later.legacy':
        'a call that needs an account gives a 2025-11-25 client with url elicitation -32042 with the link; the call is made when it is repeated',
      'choice.connect-later.modern':
        'it gives a 2026-07-28 client with url elicitation an input_required result; its retry makes the same call',
      'choice.connect-later.in-words':
        'it gives any other client a tool failure with the sentence and the link, or -32603 when it is not a tool',
      'choice.connect-later.declined': 'a link that is declined or cancelled gives a tool failure and no call',
      'choice.connect-later.waits': 'a retry after an opened link is tried for half a minute before a new link is sent',
      'choice.connect-later.lists':
        'a list lacks only the entries of a backend whose account is not connected, and has them after it is',
      'choice.connect-later.list-changed':
        'the client is notified of these entries at its next request after the account is connected',
      'choice.connect-later.inner':
        'a step of a composite tool and a call of a script fail with the sentence and the link; call_tool gives the link as a direct call does',
      'choice.connect-later.recorded':
        'such a call is recorded as refused with status 401, and nothing is logged as an error',
    },
  },
  {
    source: 'choice: passthrough headers',
    says: {
      'choice.passthrough.credentials':
        'Authorization, Cookie, MCP and content headers are refused as passthrough headers in every plan',
      'choice.passthrough.underscores': 'an underscore in a name counts as a hyphen when a header is judged',
      'choice.passthrough.connection-listed': 'a header that Connection lists stays on its hop',
      'choice.passthrough.strategy-wins':
        'a name that a strategy sets is refused at the start, and what the gateway sets itself is never replaced',
    },
  },
  {
    source: 'choice: credentials stay where they belong',
    says: {
      'choice.outgoing.never-the-incoming-token': 'the token a caller came with reaches no backend as it is',
      'choice.outgoing.redirects-stay': 'a redirect to another origin is not followed, so credentials go nowhere else',
    },
  },
] as const satisfies readonly Section[];
