/** The page of a failed authorization request. Its texts may come from the request: unsafe characters are removed. */
export function renderErrorPage(error: string, description: string | undefined): string {
  const [title, text] = [error, description].map((part) => (part ?? '').replace(/[^\w .,:'()-]/g, ''))
  return `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Access request failed</title><h1>Access request failed</h1><p>${text} Error code: ${title}.</p></html>`
}
