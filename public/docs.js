// Optional: finds operations, opens the one that the URL names, and sends requests.

const keyInput = document.getElementById('api-key')

if (keyInput) {
  // Kept until this tab is closed.
  const name = 'docs.api-key'
  const remember = (key) => (key === '' ? sessionStorage.removeItem(name) : sessionStorage.setItem(name, key))
  keyInput.value = sessionStorage.getItem(name) ?? ''
  keyInput.addEventListener('input', () => remember(keyInput.value.trim()))
  keyInput.form.addEventListener('reset', () => remember(''))
  keyInput.form.addEventListener('submit', (event) => event.preventDefault())
}

// Hides the operations without the typed words in their id, path or summary, and the groups without operations.
const finder = document.getElementById('find')
const findOperations = () => {
  const words = finder.querySelector('input').value.toLowerCase().split(/\s+/)
  let count = 0
  for (const operations of document.querySelectorAll('.operations')) {
    for (const operation of operations.children) {
      const text = `${operation.id} ${operation.textContent}`.toLowerCase()
      operation.hidden = !words.every((word) => text.includes(word))
      if (!operation.hidden) count += 1
    }
    operations.parentElement.hidden = !operations.querySelector('.operation:not([hidden])')
  }
  finder.querySelector('[role=status]').textContent = `${count} ${count === 1 ? 'operation' : 'operations'}`
}
finder?.addEventListener('input', findOperations)

const openLinked = () => {
  const part = document.getElementById(location.hash.slice(1))
  // Programs and older links name an operation on the first page.
  if (finder && part?.matches('.operation')) location.replace(part.querySelector('a').href)
  if (part?.localName === 'details') part.open = true
  part?.scrollIntoView()
}
addEventListener('hashchange', openLinked)
openLinked()

for (const form of document.querySelectorAll('.try form')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const { method, path } = form.dataset
    const [status, output] = ['[role=status]', 'pre'].map((part) => form.querySelector(part))
    const show = (line, text = '') => {
      status.textContent = line
      output.textContent = text
      output.hidden = text === ''
    }
    const key = keyInput?.value.trim() ?? ''
    if ('needsKey' in form.dataset && key === '') {
      show('Enter your API key at the top of this page first.')
      return
    }
    const fields = (place) =>
      [...form.querySelectorAll(`[data-in=${place}]`)].filter(({ value }) => value !== '')
    let url = path
    for (const { name, value } of fields('path')) url = url.replace(`{${name}}`, encodeURIComponent(value))
    const query = new URLSearchParams(fields('query').map(({ name, value }) => [name, value])).toString()
    const headers = Object.fromEntries(fields('header').map(({ name, value }) => [name, value]))
    if ('needsKey' in form.dataset) headers.Authorization = `Bearer ${key}`
    let [body] = fields('body').map(({ value }) => value)
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    for (const { name, files } of fields('file')) {
      body = new FormData()
      body.append(name, files[0])
    }
    show('Sending…')
    try {
      // Without the cookies of the website, so that the response is what a program would get.
      const response = await fetch(query ? `${url}?${query}` : url, {
        method,
        headers,
        body,
        credentials: 'omit',
      })
      const text = await response.text()
      show(`${response.status} ${response.statusText}`, indent(text))
    } catch {
      show('No response. The service cannot be reached, or a header contains invalid characters.')
    }
  })
}

function indent(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
