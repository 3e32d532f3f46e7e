/** The option with which commands choose a running gateway. A file of its own, because the help needs it and nothing else. */
export const GATEWAY_FLAG = '--gateway <which>';
export const GATEWAY_HELP = 'name, port, pid or URL of a running gateway, when there are several';
