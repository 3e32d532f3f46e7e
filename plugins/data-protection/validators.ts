/**
 * Each takes what a pattern matched and gives the length of the part that is one, from its beginning: 0 when none is. Patterns take
 * more than they need, e.g. the number after a card number.
 */
export type Validator = (match: string) => number;

/** Luhn's check digit with the beginning and the length of a payment card. Source: ISO/IEC 7812-1 annex B. */
export const cardNumber: Validator = (match) => {
  let digits = '';
  let found = 0;
  // every second digit is weighed twice; which, is known at the last one
  let sum = 0;
  let other = 0;
  for (let at = 0; at < match.length; at++) {
    const code = match.charCodeAt(at);
    if (!isDigit(code)) continue;
    digits += match[at];
    const digit = code - ZERO;
    const before = sum;
    sum = other + digit;
    other = before + (digit > 4 ? digit * 2 - 9 : digit * 2);
    if (digits.length < SHORTEST_CARD || sum % 10 !== 0 || isDigit(match.charCodeAt(at + 1))) continue;
    if (CARDS.test(digits)) found = at + 1;
  }
  return found;
};

const SHORTEST_CARD = 14;

/** Visa, Mastercard, American Express, Diners Club, Discover, JCB, UnionPay. */
const CARDS =
  /^(?:4\d{15}(?:\d{3})?|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17})$/;

/** The length of the country and the check number modulo 97. Source: ISO 13616. */
export const iban: Validator = (match) => {
  const length = IBAN_LENGTHS.get(match.slice(0, 2).toUpperCase());
  if (length === undefined) return 0;
  let plain = '';
  for (let at = 0; at < match.length; at++) {
    if (match[at] === ' ') continue;
    plain += match[at];
    if (plain.length < length) continue;
    const next = match[at + 1];
    return (next === undefined || next === ' ') && leavesOne(plain.toUpperCase()) ? at + 1 : 0;
  }
  return 0;
};

function leavesOne(plain: string): boolean {
  let rest = 0;
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** Characters of an IBAN by country. Source: the registry of SWIFT. */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 ' +
    'GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 ' +
    'MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 ' +
    'VA22 VG24 XK20'
  )
    .split(' ')
    .map((each) => [each.slice(0, 2), Number(each.slice(2))]),
);

/** A text that no person chose: letters and digits, and enough entropy per character for its length. */
export const random: Validator = (match) => {
  if (!/\d/.test(match) || !/[A-Za-z]/.test(match)) return 0;
  return entropyOf(match) >= LEAST_ENTROPY ? match.length : 0;
};

/** Bits per character. Words and dates have less; 16 random hexadecimal digits have about 3.3. */
const LEAST_ENTROPY = 3;

function entropyOf(text: string): number {
  counts.fill(0);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at) % counts.length;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** How often each character occurs; used again, because many texts are looked at. */
const counts = new Uint16Array(128);

/** The first part is a JOSE header. Source: RFC 7515 §4.1.1. */
export const jsonWebToken: Validator = (match) => {
  const header = Buffer.from(match.slice(0, match.indexOf('.')), 'base64url').toString('latin1');
  return header.includes('"alg"') ? match.length : 0;
};

const ZERO = 0x30;

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39;
}
