// The list of people at an @ in a comment. A form names where they are found in `data-mentions`.

const waitMs = 150
// An @ at the start or after a space, and up to 40 characters of a name behind it.
const begun = /(?:^|[\s(])@([^\s@[\](][^@[\]()\n]{0,39}|)$/

for (const form of document.querySelectorAll('form[data-mentions]'))
  offerMentions(form.querySelector('textarea'), form.dataset.mentions)

// `namesUrl` answers the people whose name or address has a text.
function offerMentions(field, namesUrl) {
  const list = make('ul', {
    role: 'listbox',
    class: 'mentions',
    id: `${field.id}-people`,
    'aria-label': 'People',
  })
  const status = make('p', { class: 'visually-hidden', role: 'status' })
  list.hidden = true
  field.after(list, status)
  field.setAttribute('aria-autocomplete', 'list')
  field.setAttribute('aria-controls', list.id)
  field.setAttribute('autocomplete', 'off')

  let options = []
  let selected = -1
  let timer
  let search

  const readBegun = () =>
    field.selectionStart === field.selectionEnd
      ? begun.exec(field.value.slice(0, field.selectionStart))?.[1]
      : undefined

  const close = () => {
    clearTimeout(timer)
    search?.abort()
    options = []
    list.hidden = true
    list.replaceChildren()
    status.textContent = ''
    select(-1)
  }

  const find = async () => {
    const text = readBegun()
    if (text === undefined) return close()
    search?.abort()
    const { signal } = (search = new AbortController())
    try {
      const url = `${namesUrl}?q=${encodeURIComponent(text)}`
      const answer = await fetch(url, { signal, headers: { accept: 'application/json' } })
      const { people } = answer.ok ? await answer.json() : { people: [] }
      if (!signal.aborted) show(people)
    } catch {
      if (!signal.aborted) close()
    }
  }

  function show(people) {
    options = people.map(({ userId, name }, i) => {
      const option = make('li', { role: 'option', id: `${list.id}-${i}`, 'aria-selected': 'false' })
      option.append(make('bdi', {}, name))
      // A click would take the focus from the field first.
      option.addEventListener('pointerdown', (event) => {
        event.preventDefault()
        insert({ userId, name })
      })
      return { userId, name, option }
    })
    list.replaceChildren(...options.map(({ option }) => option))
    list.hidden = options.length === 0
    status.textContent =
      options.length === 0
        ? 'No such person.'
        : `${options.length} people. Choose with ↑ and ↓, insert with Enter.`
    select(options.length === 0 ? -1 : 0)
  }

  function select(index) {
    options[selected]?.option.setAttribute('aria-selected', 'false')
    selected = index
    const option = options[index]?.option
    if (!option) return field.removeAttribute('aria-activedescendant')
    option.setAttribute('aria-selected', 'true')
    field.setAttribute('aria-activedescendant', option.id)
    option.scrollIntoView({ block: 'nearest' })
  }

  function insert({ userId, name }) {
    const text = readBegun()
    if (text === undefined) return close()
    const end = field.selectionStart
    const mention = `[@${name.replace(/[\\[\]]/g, '\\$&')}](user:${userId}) `
    field.setRangeText(mention, end - text.length - 1, end, 'end')
    close()
  }

  field.addEventListener('input', () => {
    clearTimeout(timer)
    if (readBegun() === undefined) close()
    else timer = setTimeout(find, waitMs)
  })
  field.addEventListener('blur', close)
  field.addEventListener('keydown', (event) => {
    if (event.isComposing || list.hidden) return
    const steps = { ArrowDown: 1, ArrowUp: -1 }
    if (event.key in steps) select((selected + steps[event.key] + options.length) % options.length)
    else if ((event.key === 'Enter' || event.key === 'Tab') && options[selected]) insert(options[selected])
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
  })
}

function make(name, attributes, text = '') {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.textContent = text
  return element
}
