/**
 * Cuts an event stream into the data of its events.
 * Source: WHATWG HTML, server-sent events; names, ids and comments do not matter to a client that never resumes.
 */
export function createSseReader(onData: (data: string) => void): (chunk: string) => void {
  let rest = '';
  let data: string[] = [];
  return (chunk) => {
    const lines = (rest + chunk).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      if (line !== '' || data.length === 0) continue;
      onData(data.join('\n'));
      data = [];
    }
  };
}
