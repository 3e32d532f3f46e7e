/** Formats of the log: lines for people, or one JSON object per line. */
export const LOG_FORMATS = ['text', 'json'] as const;

/** A format of {@link LOG_FORMATS}. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Flag of the commands that serve. */
export const LOG_FORMAT_FLAG = {
  flags: '--log-format <format>',
  description: 'text: lines for people; json: one JSON object per line (default: text on a terminal, else json)',
} as const;

/** The format that was asked for; else lines for people on a terminal, and JSON everywhere else. */
export function chooseFormat(given: LogFormat | undefined, stream: { readonly isTTY?: boolean }): LogFormat {
  return given ?? (stream.isTTY === true ? 'text' : 'json');
}
