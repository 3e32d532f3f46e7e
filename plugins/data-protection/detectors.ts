import { cardNumber, iban, jsonWebToken, random, type Validator } from './validators.ts';

/**
 * One kind of data that texts are searched for. A pattern takes time in proportion to the text, whatever the text is: its
 * repetitions are bounded, or nothing that may fail follows them.
 */
export interface Detector {
  readonly name: string;
  readonly kind: 'secret' | 'personal';
  /**
   * Global. The whole match counts, or its named group `value`, which is at its end. The named group `lead` of a lookbehind at the
   * beginning is part of it.
   */
  readonly pattern: RegExp;
  /** A text without any of these has no match; compared before the pattern, because that is faster. */
  readonly needs?: readonly string[];
  readonly validator?: Validator;
  /** Sticky. What follows a match and belongs to it, of any length; of the value of a key that is all of it. */
  readonly rest?: RegExp;
  /** The pattern looks at the name before a value: a member's string is searched together with its key. */
  readonly readsKeys?: boolean;
  /** Texts in which it finds one; tests prove each. */
  readonly finds: readonly string[];
  /** Texts in which it finds none. */
  readonly ignores: readonly string[];
}

/** Joined here, so that tools which look for secrets in sources leave the examples alone. */
const example = (...parts: readonly string[]): string => parts.join('');

const R16 = 'q7Zk2LmX9pTw4RbV';
const R36 = `${R16}c8Hd3NsY6jFg1KaQ5eUo`;

/** Every detector, those of more exact form first: where two find the same text, the first one names it. */
export const DETECTORS: readonly Detector[] = [
  {
    name: 'aws-access-key-id',
    kind: 'secret',
    pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])/g,
    needs: ['AKIA', 'ASIA'],
    finds: [example('AK', 'IAIOSFODNN7EXAMPLE'), example('id=AS', 'IAIOSFODNN7EXAMPLE;')],
    ignores: ['AKIA', 'AKIAIOSFODNN7EXAMPL', 'XAKIAIOSFODNN7EXAMPLE', 'AKIAiosfodnn7example'],
  },
  {
    name: 'aws-secret-access-key',
    kind: 'secret',
    pattern: /secret_?access_?key["']{0,4}\s{0,8}[=:]\s{0,8}["']{0,4}(?<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi,
    readsKeys: true,
    validator: random,
    finds: [
      example('aws_secret_access_key = wJalrXUtnFEMI', '/K7MDENG/bPxRfiCYEXAMPLEKEY'),
      example('"SecretAccessKey": "wJalrXUtnFEMI', '/K7MDENG/bPxRfiCYEXAMPLEKEY"'),
    ],
    ignores: ['aws_secret_access_key = $AWS_SECRET_ACCESS_KEY', `secret_access_key=${'a'.repeat(40)}`],
  },
  {
    name: 'private-key',
    kind: 'secret',
    // also when its end is cut off; prose has no long runs of base64
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?=[ \t]{0,8}[\r\n]|\s{0,8}[A-Za-z0-9+/=]{16})(?:\s{1,8}[A-Za-z-]{1,40}: [^\n\\]{0,200}){0,4}(?:\s{0,64}[A-Za-z0-9+/=]{16,})*(?:\s{0,64}[A-Za-z0-9+/=]{1,15}(?=\s{0,64}(?:-|$)))?(?:\s{0,64}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
    needs: ['PRIVATE KEY'],
    finds: [
      `-----BEGIN PRIVATE KEY-----\n${R36}\n${R36}\n-----END PRIVATE KEY-----`,
      `{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\\n${R36}\\n-----END PRIVATE KEY-----\\n"}`,
      `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n${R36}\n-----END RSA PRIVATE KEY-----`,
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${R36}`,
      `-----BEGIN PRIVATE KEY----- ${R36} ${R16} -----END PRIVATE KEY-----`,
    ],
    ignores: [
      `-----BEGIN PUBLIC KEY-----\n${R36}\n-----END PUBLIC KEY-----`,
      'a PRIVATE KEY is a file',
      '-----BEGIN PRIVATE KEY----- is what it begins with',
    ],
  },
  {
    name: 'google-api-key',
    kind: 'secret',
    pattern: /(?<![\w-])AIza[\w-]{35}(?![\w-])/g,
    needs: ['AIza'],
    finds: [example('AI', `za${R36.slice(0, 35)}`)],
    ignores: ['AIza', `AIza${R16}`],
  },
  {
    name: 'github-token',
    kind: 'secret',
    pattern: /(?<![A-Za-z0-9])(?:gh[opsur]_[A-Za-z0-9]{36,}|github_pat_\w{40,})/g,
    needs: ['gh', 'github_pat_'],
    finds: [
      example('gh', `p_${R36}`),
      example('https://x:gh', `s_${R36}@github.com`),
      example('github', `_pat_${R36}_${R16}`),
    ],
    ignores: ['ghp_short', `ghx_${R36}`, 'github_pat_tern'],
  },
  {
    name: 'gitlab-token',
    kind: 'secret',
    pattern: /(?<![A-Za-z0-9])gl(?:pat|dt|ptt|rt|cbt|ft|soat|agent|imt|oas)-[\w-]{20,}(?:\.[\w-]{2,20}){0,3}/g,
    needs: ['gl'],
    finds: [example('gl', `pat-${R16}c8Hd`), example('gl', `rt-${R16}c8Hd.01.ab12cd34`)],
    ignores: ['glpat-short', `glxyz-${R16}c8Hd`],
  },
  {
    name: 'slack-token',
    kind: 'secret',
    pattern:
      /(?<![\w-])(?:xox[abeoprs]-[A-Za-z0-9-]{20,}|xapp-[A-Za-z0-9-]{20,}|hooks\.slack\.com\/services\/T\w{5,20}\/B\w{5,20}\/\w{16,})/g,
    needs: ['xox', 'xapp-', 'hooks.slack.com'],
    finds: [
      example('xo', `xb-1234567890-${R16}`),
      example('xa', `pp-1-A123-456-${R16}`),
      example('https://hooks.', `slack.com/services/T12345678/B12345678/${R16}`),
    ],
    ignores: ['xoxb-', 'xoxo', 'https://hooks.slack.com/services/'],
  },
  {
    name: 'stripe-key',
    kind: 'secret',
    pattern: /(?<![A-Za-z0-9])(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,})/g,
    needs: ['k_live_', 'k_test_', 'whsec_'],
    finds: [example('sk', `_live_${R16}`), example('rk', `_test_${R16}`), example('wh', `sec_${R36}`)],
    ignores: ['sk_live_', `pk_live_${R16}`, 'whsec_short'],
  },
  {
    name: 'anthropic-key',
    kind: 'secret',
    pattern: /(?<![\w-])sk-ant-[\w-]{20,}/g,
    needs: ['sk-ant-'],
    finds: [example('sk-', `ant-api03-${R36}`)],
    ignores: ['sk-ant-', 'sk-ant-eater'],
  },
  {
    name: 'openai-key',
    kind: 'secret',
    pattern: /(?<![\w-])sk-(?!ant-)[\w-]{20,}/g,
    needs: ['sk-'],
    validator: random,
    finds: [example('sk-', `proj-${R36}`), example('sk-', R36)],
    ignores: ['sk-fading-circle-with-a-long-name', 'task-0123456789abcdefghijkl', example('sk-', `ant-api03-${R36}`)],
  },
  {
    name: 'npm-token',
    kind: 'secret',
    pattern: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g,
    needs: ['npm_'],
    finds: [example('np', `m_${R36}`)],
    ignores: ['npm_config_registry', `npm_${R16}`],
  },
  {
    name: 'jwt',
    kind: 'secret',
    pattern: /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
    needs: ['eyJ'],
    validator: jsonWebToken,
    finds: [
      example('eyJhbGciOiJIUzI1NiJ9.eyJzdWIi', `OiJhZGEifQ.${R36}`),
      example('eyJhbGciOiJub25lIn0.eyJzdWIi', 'OiJhZGEifQ.'),
    ],
    ignores: ['eyJhbGciOiJIUzI1NiJ9', 'eyJxxxxxxxxxx.yyyyyyyyyyyy.zzzz'],
  },
  {
    name: 'generic-secret',
    kind: 'secret',
    pattern:
      /(?:passw(?:or)?d|secret|(?<!page[_-]?|next[_-]?|continuation[_-]?)token|credential|(?:api|access|private|signing)[_-]?key)["']{0,4}\s{0,8}(?:=>|:=|=|:)\s{0,8}["']{0,4}(?<value>[^\s"'`,;<>(){}[\]]{16,128})/gi,
    rest: /[^\s"'`,;<>(){}[\]]*/y,
    readsKeys: true,
    validator: random,
    finds: [`password=${R16}`, `"client_secret": "${R36}"`, `API-KEY: ${R36}`, `dbPassword := '${R16}'`],
    ignores: [
      'password: correct-horse-battery-staple',
      'token=none',
      'secret: see the manual of 2026',
      `hash=${R36}`,
      'max_tokens: 4096',
      `nextPageToken: ${R36}`,
    ],
  },
  {
    name: 'mail-address',
    kind: 'personal',
    // begins at the @, which is rarer than words
    pattern: /(?<=(?<lead>(?<![\w.%+-])[\w.%+-]{1,64}))@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])/g,
    needs: ['@'],
    finds: ['ada@example.com', 'Ada <ada.lovelace+x@mail.example.co.uk>', 'mailto:ada@example.org.'],
    ignores: ['ada@localhost', '@ada', 'a @ b.com', 'pkg@1.2.3', 'user@host.1'],
  },
  {
    name: 'iban',
    kind: 'personal',
    pattern: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])/gi,
    validator: iban,
    finds: ['DE89 3704 0044 0532 0130 00', 'GB29NWBK60161331926819', 'paid to de89370400440532013000 AND THEN'],
    ignores: [
      'DE89 3704 0044 0532 0130 01',
      'ZZ89370400440532013000',
      'DE8937040044053201300',
      'DE893704004405320130000',
    ],
  },
  {
    name: 'card-number',
    kind: 'personal',
    // not the end of a UUID, and not the digits after a decimal point
    pattern:
      /(?<![A-Za-z0-9]|\d\.|[\da-f]{8}-|[\da-f]{4}-[\da-f]{4}-)[2-6](?:[ \u00a0-]?\d){13,18}(?![A-Za-z0-9]|\.\d)/g,
    validator: cardNumber,
    finds: [
      '4111 1111 1111 1111',
      '5500-0000-0000-0004',
      '378282246310005',
      'card 4111111111111111 123, 12/29',
      '30 4111111111111111',
      '2026-4111111111111111',
      'ref 1234-4111 1111 1111 1111',
      'pan_4111111111111111',
    ],
    ignores: [
      '4111 1111 1111 1112',
      '1764349200000',
      '0.4111111111111111',
      'a4111111111111111',
      '11111111-2222-3333-4444-555555555555',
      '411111111111111111111111',
    ],
  },
  {
    name: 'us-ssn',
    kind: 'personal',
    pattern: /(?<![\w-])(?!000|666|9)\d{3}(?:-(?!00)\d{2}-| (?!00)\d{2} )(?!0000)\d{4}(?![\w-])/g,
    finds: ['123-45-6789', 'SSN 123 45 6789.'],
    ignores: ['000-45-6789', '666-45-6789', '923-45-6789', '123-00-6789', '123-45-0000', '123-45-67890', '2026-11-28'],
  },
  {
    name: 'phone-number',
    kind: 'personal',
    pattern: /(?<![\w+])\+[1-9](?:[ .()/-]{0,2}\d){7,14}(?!\d)/g,
    needs: ['+'],
    finds: ['+14155552671', '+49 30 901820', 'call +1 (415) 555-2671 now'],
    ignores: ['+1234', '14155552671', '+0123456789', 'a+14155552671', '+12345678901234567'],
  },
];
