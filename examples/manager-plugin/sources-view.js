/** Fills the view with one line for each workload. The page has signed the person in: `request` sends the token. */
export async function show(element, { request }) {
  const title = document.createElement('h1');
  title.textContent = 'Sources';
  const list = document.createElement('ul');
  for (const { name, source, note } of await request('GET', '/api/v1beta/sources')) {
    const item = document.createElement('li');
    item.textContent = `${name}: ${source}${note === undefined ? '' : ` (${note})`}`;
    list.append(item);
  }
  element.replaceChildren(title, list);
}
