import open from 'open';

/** Opens a URL in the browser of the user, if there is one. The URL is an argument of a program, never shell text. */
export async function openBrowser(url: string): Promise<void> {
  try {
    const opener = await open(url);
    opener.once('error', () => {});
  } catch {
    // the URL is printed too
  }
}
