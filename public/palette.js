// The command palette, which public/site.js loads when it is first opened.

const waitMs = 150

let dialog, input, list, status
// The elements of what was found, and what each of them does.
let options = []
let results = []
let selected = -1
let search
// Whether what is shown was found for an earlier text, and what Enter then waits for.
let isStale = false
let chooseWhenShown

/** Opens the palette, or closes it. `resultsUrl` answers what a text finds; `searchUrl` is the page that lists it. */
export function togglePalette({ resultsUrl, searchUrl }) {
  if (!dialog) create(resultsUrl, searchUrl)
  if (dialog.open) {
    dialog.close()
    return
  }
  input.value = ''
  dialog.showModal()
  show(resultsUrl)
}

function create(resultsUrl, searchUrl) {
  dialog = make('dialog', { class: 'palette', 'aria-label': 'Search' })
  input = make('input', {
    type: 'text',
    role: 'combobox',
    'aria-label': 'Search seeds, evidence, people, pages',
    'aria-autocomplete': 'list',
    'aria-controls': 'palette-results',
    'aria-expanded': 'false',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: '100',
    placeholder: 'Search seeds, evidence, people, pages',
  })
  list = make('div', { role: 'listbox', id: 'palette-results', 'aria-label': 'Results' })
  status = make('p', { class: 'hint', role: 'status' })
  dialog.append(input, list, status)
  document.body.append(dialog)

  let timer
  input.addEventListener('input', () => {
    clearTimeout(timer)
    // What it finds is for an earlier text: it must not be shown, nor chosen by Enter.
    search?.abort()
    isStale = true
    chooseWhenShown = undefined
    timer = setTimeout(() => show(resultsUrl), waitMs)
  })
  input.addEventListener('keydown', (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 }
    if (event.isComposing) return
    if (event.key in steps && options.length > 0) {
      event.preventDefault()
      select((selected + steps[event.key] + options.length) % options.length)
    } else if (event.key === 'Enter') {
      const chooseSelected = () => choose(selected, `${searchUrl}?q=${encodeURIComponent(input.value)}`)
      if (isStale) chooseWhenShown = chooseSelected
      else chooseSelected()
    }
  })
  list.addEventListener('click', (event) => {
    const option = event.target.closest('[role="option"]')
    if (option) choose(options.indexOf(option))
  })
  // The backdrop belongs to the dialog.
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close())
  dialog.addEventListener('close', () => {
    chooseWhenShown = undefined
    search?.abort()
  })
}

/** Opens the page of a result, or sends its form. */
function choose(index, otherwise) {
  const { href = otherwise, fields } = results[index] ?? {}
  if (!fields) {
    location.assign(href)
    return
  }
  const form = make('form', { method: 'post', action: href, hidden: '' })
  // Each form of the page has the token.
  const token = document.querySelector('input[name="_csrf"]').value
  for (const [name, value] of Object.entries({ ...fields, _csrf: token }))
    form.append(make('input', { type: 'hidden', name, value }))
  document.body.append(form)
  form.requestSubmit()
}

/** Shows what the typed text finds, unless another search begins meanwhile. */
async function show(resultsUrl) {
  search?.abort()
  const { signal } = (search = new AbortController())
  try {
    const url = `${resultsUrl}?${new URLSearchParams({ q: input.value, at: location.pathname })}`
    const answer = await fetch(url, { signal, headers: { accept: 'application/json' } })
    if (answer.status === 401) return showSignedOut()
    if (!answer.ok) throw new Error(`the search answered ${answer.status}`)
    render((await answer.json()).groups)
  } catch {
    if (signal.aborted) return
    render([])
    status.textContent = 'The search failed. Try again.'
  }
  isStale = false
  chooseWhenShown?.()
}

function showSignedOut() {
  render([])
  // Its page asks for the sign-in, and leads back.
  status.replaceChildren('You are signed out. ', make('a', { href: location.href }, 'Sign in'))
}

function render(groups) {
  options = []
  results = groups.flatMap((group) => group.results)
  const sections = groups.map(({ name, results: ofGroup }) => {
    const section = make('div', { role: 'group', 'aria-label': name })
    const heading = make('p', { class: 'hint', 'aria-hidden': 'true' }, name)
    section.append(heading, ...ofGroup.map(renderOption))
    return section
  })
  list.replaceChildren(...sections)
  list.hidden = options.length === 0
  input.setAttribute('aria-expanded', String(options.length > 0))
  status.textContent =
    options.length === 0
      ? 'Nothing matches.'
      : `${options.length} ${options.length === 1 ? 'result' : 'results'}. Choose with ↑ and ↓, open with Enter.`
  select(options.length === 0 ? -1 : 0)
}

function renderOption({ label, detail }) {
  const option = make('div', {
    role: 'option',
    id: `palette-${options.length}`,
    'aria-selected': 'false',
  })
  const name = make('bdi', { class: 'truncate' }, label)
  option.append(name, make('bdi', { class: 'hint truncate' }, detail))
  options.push(option)
  return option
}

function select(index) {
  options[selected]?.setAttribute('aria-selected', 'false')
  selected = index
  const option = options[index]
  if (!option) {
    input.removeAttribute('aria-activedescendant')
    return
  }
  option.setAttribute('aria-selected', 'true')
  input.setAttribute('aria-activedescendant', option.id)
  option.scrollIntoView({ block: 'nearest' })
}

function make(name, attributes, text = '') {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.textContent = text
  return element
}
