// Mentions in comments, and the list of people at an @. A form names where people are found in `data-mentions`.
//
// A mention is stored as `[@Name](user:ID)`, of a team as `[@Name](team:ID)`, of an agent as `[@Name](agent:GRANT)`, and reads `@Name` in the field. Other scripts use `field.toSent()`, which
// returns the stored form of the text, and `field.setSent(text)`, which shows one. `field.defaultValue` has the stored form.

const waitMs = 150
// As src/kernel/markdown.ts has it, with a name.
const mention =
  /\[@((?:[^[\]\\\n]|\\[^\n]){1,200})\]\((?:user|team|agent):[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\)/g
// A letter or digit that goes on with the name before it. Scripts without spaces between words put the next word there.
const goesOn =
  '(?![\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}])[\\p{L}\\p{N}]'
const startsOn = new RegExp(`^${goesOn}`, 'u')
// An @, where it is not in an address, and up to 40 characters of a name behind it.
const begun = new RegExp(`(?<!${goesOn})[@＠]([^\\s@＠[\\](][^@＠[\\]()\\n]{0,39}|)$`, 'u')
// The format of the clipboard for the stored form of what is copied, beside what is shown.
const storedFormat = 'application/x-stored-text'
const seenMax = 200

for (const form of document.querySelectorAll('form[data-mentions]')) {
  const field = form.querySelector('textarea')
  offerPeople(field, form.dataset.mentions, showMentions(field))
}

// Texts that are only shown to copy, here and by public/drafts.js.
for (const area of document.querySelectorAll('textarea[data-copy]')) showMentions(area)
document.addEventListener('copyable', ({ target }) => showMentions(target))

// Shows the mentions of a field by their names. Returns what reads where they are, and what adds one.
function showMentions(field) {
  // Where the mentions of the text are, in order, with their stored form.
  let mentions = []
  let text = field.value
  // The mentions that the last texts had, for undoing.
  const seen = new Map()
  // The stored form of names, for what is cut and pasted.
  const sources = new Map()

  // What was edited is no mention any more, until the edit is undone.
  function read() {
    const { value } = field
    if (value === text) return mentions
    const { start, end, newEnd } = findEdit(text, value, field.selectionEnd)
    const before = mentions.filter(
      (each) => each.end < start || (each.end === start && !startsOn.test(value.slice(start))),
    )
    const after = mentions.filter((each) => each.start >= end).map((each) => moveBy(newEnd - end, each))
    const found = [...before, ...findPasted(value.slice(start, newEnd), start), ...after]
    // A text of before may be from before its mention was chosen.
    const earlier = seen.get(value) ?? []
    return set(value, earlier.length > found.length ? earlier : found)
  }

  function set(value, found) {
    text = value
    mentions = found
    seen.delete(value)
    seen.set(value, found)
    if (seen.size > seenMax) seen.delete(seen.keys().next().value)
    for (const { start, end, source } of found) sources.set(value.slice(start, end), source)
    return found
  }

  // The mentions in what was inserted at once. Who types chooses from the list.
  function findPasted(inserted, at) {
    // The longest first, since a name may begin with another.
    const names = [...sources.keys()]
      .filter((name) => inserted.includes(name))
      .sort((a, b) => b.length - a.length)
    if (names.length === 0) return []
    const pattern = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')
    const found = inserted.matchAll(new RegExp(`(?:${pattern})(?!${goesOn})`, 'gu'))
    return Array.from(found, ({ 0: name, index }) =>
      moveBy(at + index, { start: 0, end: name.length, source: sources.get(name) }),
    )
  }

  function add({ userId, teamId, grantId, name }, start) {
    // As src/domain/comments.ts writes it.
    const target = grantId ? `agent:${grantId}` : teamId ? `team:${teamId}` : `user:${userId}`
    const source = `[@${name.replace(/[\\[\]*_`<&|]/g, '\\$&')}](${target})`
    place([{ start, end: start + name.length + 1, source }])
  }

  // Has mentions where their names were inserted.
  function place(found) {
    const others = read().filter((each) =>
      found.every(({ start, end }) => each.end <= start || each.start >= end),
    )
    set(
      text,
      [...others, ...found].sort((a, b) => a.start - b.start),
    )
  }

  function copy(event) {
    const { selectionStart, selectionEnd } = field
    const copied = read().filter(({ start, end }) => start >= selectionStart && end <= selectionEnd)
    if (copied.length === 0) return
    const shown = text.slice(selectionStart, selectionEnd)
    const stored = toStored(
      shown,
      copied.map((each) => moveBy(-selectionStart, each)),
    )
    event.clipboardData.setData('text/plain', shown)
    event.clipboardData.setData(storedFormat, stored)
    event.preventDefault()
    if (event.type === 'cut' && !field.readOnly) document.execCommand('delete')
  }

  function paste(event) {
    const stored = event.clipboardData.getData(storedFormat)
    if (stored === '' || field.readOnly) return
    event.preventDefault()
    const { selectionStart } = field
    const { shown, found } = toShown(stored)
    insertText(field, shown)
    place(found.map((each) => moveBy(selectionStart, each)))
  }

  field.toSent = () => toStored(field.value, read())
  field.setSent = (stored) => {
    const { shown, found } = toShown(stored)
    field.value = shown
    set(field.value, found)
  }
  // Returns whether it has copied the text, which it does if that has mentions.
  field.copyAll = () => {
    if (read().length === 0) return false
    const { activeElement } = document
    field.focus()
    field.select()
    const isCopied = document.execCommand('copy')
    activeElement?.focus()
    return isCopied
  }

  // Unless the browser has restored what was typed.
  if (field.value === field.defaultValue) field.setSent(field.value)
  field.addEventListener('input', read)
  for (const event of ['copy', 'cut']) field.addEventListener(event, copy)
  field.addEventListener('paste', paste)
  // When the form is sent, by the browser or by public/texts.js.
  field.form?.addEventListener('formdata', ({ formData }) => formData.set(field.name, field.toSent()))
  return { read, add }
}

function toStored(text, mentions) {
  let stored = ''
  let last = 0
  for (const { start, end, source } of mentions) {
    stored += text.slice(last, start) + source
    last = end
  }
  return stored + text.slice(last)
}

function toShown(stored) {
  const found = []
  let shown = ''
  let last = 0
  // With the line breaks of a field.
  const lines = stored.replace(/\r\n?/g, '\n')
  for (const { 0: source, 1: name, index } of lines.matchAll(mention)) {
    shown += lines.slice(last, index)
    const start = shown.length
    shown += `@${name.replace(/\\([!-/:-@[-`{-~])/g, '$1')}`
    found.push({ start, end: shown.length, source })
    last = index + source.length
  }
  return { shown: shown + lines.slice(last), found }
}

// Replaces the selection. It can be undone, which `setRangeText` cannot.
function insertText(field, text) {
  const { selectionStart, selectionEnd } = field
  if (!document.execCommand('insertText', false, text))
    field.setRangeText(text, selectionStart, selectionEnd, 'end')
}

function moveBy(distance, { start, end, source }) {
  return { start: start + distance, end: end + distance, source }
}

// The part of a text that was replaced. Of several that explain the change, that before the caret.
function findEdit(before, after, caret) {
  const both = Math.min(before.length, after.length)
  let tail = before.endsWith(after.slice(caret)) ? after.length - caret : 0
  let start = 0
  while (start < both - tail && before[start] === after[start]) start++
  while (tail < both - start && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  return { start, end: before.length - tail, newEnd: after.length - tail }
}

// `namesUrl` answers the people, teams and agents whose name, or address, has a text.
function offerPeople(field, namesUrl, mentions) {
  const list = make('ul', {
    role: 'listbox',
    class: 'mentions',
    id: `${field.id}-people`,
    'aria-label': 'People, teams and agents',
  })
  const status = make('p', { class: 'visually-hidden', role: 'status' })
  list.hidden = true
  field.after(list, status)
  // The role of a combobox is not for fields of several lines. These attributes are.
  field.setAttribute('aria-autocomplete', 'list')
  field.setAttribute('aria-haspopup', 'listbox')
  field.setAttribute('aria-controls', list.id)
  field.setAttribute('autocomplete', 'off')

  let people = []
  let selected = -1
  // Whether the list is for an earlier text, and Enter waits for that of this one.
  let isStale = false
  let isChosen = false
  let timer
  let search

  // The begun name and where its @ is, unless that is a mention with more text behind it.
  const readBegun = () => {
    const { selectionStart: caret, selectionEnd, value } = field
    if (caret !== selectionEnd) return undefined
    const q = begun.exec(value.slice(0, caret))?.[1]
    if (q === undefined) return undefined
    const at = caret - q.length - 1
    const known = mentions.read().find(({ start }) => start === at)
    return known ? undefined : { q, at }
  }

  const close = () => {
    clearTimeout(timer)
    search?.abort()
    people = []
    isStale = false
    isChosen = false
    list.hidden = true
    list.replaceChildren()
    status.textContent = ''
    select(-1)
  }

  const find = async () => {
    const { q } = readBegun() ?? {}
    if (q === undefined) return close()
    search?.abort()
    const { signal } = (search = new AbortController())
    try {
      const url = new URL(namesUrl, location.href)
      url.searchParams.set('q', q)
      const answer = await fetch(url, { signal, headers: { accept: 'application/json' } })
      if (!answer.ok) close()
      else show((await answer.json()).people)
    } catch {
      if (!signal.aborted) close()
    }
  }

  function show(found) {
    people = found
    list.replaceChildren(...people.map(renderOption))
    list.hidden = people.length === 0
    // Under the field, of which the page may have changed the height.
    list.style.top = `${field.offsetTop + field.offsetHeight}px`
    list.scrollIntoView({ block: 'nearest' })
    const count = people.length === 1 ? '1 person' : `${people.length} people`
    status.textContent =
      people.length === 0 ? 'No such person.' : `${count}. Choose with ↑ and ↓, insert with Enter.`
    select(people.length === 0 ? -1 : 0)
    const [first] = people
    const isWaiting = isChosen
    isStale = false
    isChosen = false
    if (isWaiting && first) insert(first)
  }

  function renderOption({ name, email, memberCount, forName, face }, i) {
    const option = make('li', { role: 'option', id: `${list.id}-${i}`, 'aria-selected': 'false' })
    option.innerHTML = face
    option.append(make('bdi', { class: 'truncate' }, name), ' ')
    const about =
      memberCount === undefined ? (forName ? `Agent of ${forName}` : email) : `Team of ${memberCount}`
    option.append(make('bdi', { class: 'hint truncate' }, about))
    return option
  }

  function select(index) {
    list.children[selected]?.setAttribute('aria-selected', 'false')
    selected = index
    const option = list.children[index]
    if (!option) return field.removeAttribute('aria-activedescendant')
    option.setAttribute('aria-selected', 'true')
    field.setAttribute('aria-activedescendant', option.id)
    option.scrollIntoView({ block: 'nearest' })
  }

  function insert(person) {
    const { at } = readBegun() ?? {}
    if (at === undefined) return close()
    const end = field.selectionStart
    const shown = `@${person.name} `
    field.setSelectionRange(at, end)
    insertText(field, shown)
    mentions.add(person, at)
    close()
  }

  field.addEventListener('input', () => {
    clearTimeout(timer)
    if (readBegun() === undefined) return close()
    isStale = true
    isChosen = false
    timer = setTimeout(find, waitMs)
  })
  field.addEventListener('blur', close)
  field.addEventListener('keydown', (event) => {
    if (event.isComposing || list.hidden) return
    const steps = { ArrowDown: 1, ArrowUp: -1 }
    if (event.key in steps) select((selected + steps[event.key] + people.length) % people.length)
    else if (event.key === 'Enter' || event.key === 'Tab') {
      if (isStale) isChosen = true
      else insert(people[selected])
    } else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
  })
  // A press must not take the focus from the field.
  list.addEventListener('mousedown', (event) => event.preventDefault())
  list.addEventListener('click', ({ target }) => {
    const person = people[[...list.children].indexOf(target.closest('[role="option"]'))]
    if (person) insert(person)
  })
}

function make(name, attributes, text = '') {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.textContent = text
  return element
}
