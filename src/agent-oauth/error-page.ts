/** What a browser is shown in place of an authorization that cannot go on. The texts may come from the request. */
export function renderErrorPage(error: string, description: string | undefined): string {
  const [title, text] = [error, description].map((part) => (part ?? '').replace(/[^\w .,:'()-]/g, ''))
  return `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Access cannot be given</title><h1>Access cannot be given</h1><p>The application asked in a way that cannot be answered (${title}). ${text}</p></html>`
}
