// Texts that were begun are kept in the browser until they are sent, encrypted (docs/design/forms.md#drafts). Optional.
// public/site.js deletes those of other people and old ones.
//
// The item of a field is named by a keyed hash. It has the time of its newest version in clear, and encrypted where the
// field is and the versions of its text: that of this window first, then those of other windows and of earlier times that
// the person has not decided about. A version has the hash of the text that the server had in the field.

// The second one is of the secret of the installation before, while that is replaced.
const prefixes = (document.body.dataset.drafts ?? '').split(' ').map((tag) => `draft:${tag}:`)
const [itemsMax, charactersMax, versionsMax] = [50, 500_000, 3]
const waitMs = 300
const store = openStore()
const names = new Set()

if (store) {
  const fields = [...document.querySelectorAll('textarea[data-text]')]
  const ready = Promise.all(fields.map(keepDraft))
  // Without the texts whose fields are here.
  if (listItems().length > 0) ready.then(showLost)
}

// Undefined where nothing can be kept: without encryption, as on plain http, and where the browser allows no storage.
function openStore() {
  try {
    return isSecureContext ? localStorage : undefined
  } catch {
    return undefined
  }
}

// Keeps the text of a field, and offers what was begun in it before.
function keepDraft(field) {
  const label = labelOf(field)
  const initial = field.defaultValue
  // As this window has last read or written them.
  let item = null
  let text
  let others = []
  let note
  let timer
  let last = Promise.resolve()

  // What reads or writes the item runs one after the other.
  const queue = (run) => (last = last.then(run).catch(() => undefined))
  const saveNow = () => {
    clearTimeout(timer)
    queue(save)
  }
  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(saveNow, waitMs)
  })
  // Keys are asked for before they are needed: the connection may be lost then.
  field.addEventListener('focus', findKeys)
  // Encrypting takes longer than some of these events. After the first of them, the next page has yet to come.
  for (const event of ['beforeunload', 'pagehide']) addEventListener(event, saveNow)
  document.addEventListener('visibilitychange', saveNow)
  field.form.addEventListener('sent', ({ detail: waitFor }) => waitFor(queue(forget)))
  return listItems().length > 0 && queue(offer)

  async function offer() {
    const keys = await findKeys()
    if (!keys) return
    const name = await nameOf(keys, field)
    names.add(name)
    item = store.getItem(name)
    const { versions = [] } = (await read(keys, name)) ?? {}
    const [newest, ...earlier] = versions
    if (!newest) return
    others = versions
    const former = await sign(keys, initial)
    if (newest.text === readSent(field)) {
      text = newest.text
      others = earlier
    } else if (readSent(field) === initial && newest.former === former) {
      others = earlier
      fill(newest)
    }
    if (!note) offerNext()
  }

  // The texts that the field does not show, one after the other.
  function offerNext() {
    const [other] = others
    if (!other) return showNote()
    showNote(other, ['You wrote another text here', ''], {
      Restore: () => {
        const replaced = { text: readSent(field), at: Date.now(), former: '' }
        others = others.filter((version) => version !== other)
        if (isBegun(replaced.text)) others.push(replaced)
        fill(other)
        text = undefined
        saveNow()
      },
      Discard: () => {
        others = others.filter((version) => version !== other)
        text = undefined
        saveNow()
        offerNext()
      },
    })
  }

  function fill(version) {
    const former = readSent(field)
    setText(version.text)
    text = version.text
    showNote(version, ['Your draft of', '.'], {
      Discard: () => {
        setText(former)
        saveNow()
        field.focus()
        offerNext()
      },
    })
  }

  function isBegun(value) {
    return value !== initial && value.trim() !== ''
  }

  function setText(value) {
    if (field.setSent) field.setSent(value)
    else field.value = value
    field.dispatchEvent(new Event('filled'))
  }

  function showNote(version, words, actions) {
    note?.remove()
    note = undefined
    if (!version) return
    note = renderNote(version, words, actions, label)
    field.after(note)
  }

  async function save() {
    const present = readSent(field)
    if (present === (text ?? initial) && (text !== undefined || item === null)) return
    const keys = await findKeys()
    if (!keys) return
    const name = await nameOf(keys, field)
    names.add(name)
    await takeOthers(keys, name, [present, text])
    const own = isBegun(present) ? [{ text: present, at: Date.now(), former: await sign(keys, initial) }] : []
    await write(keys, name, { path: location.pathname, label, versions: [...own, ...others] })
    item = store.getItem(name)
    text = present
  }

  // What another window has written or sent meanwhile.
  async function takeOthers(keys, name, known) {
    const found = store.getItem(name)
    if (found === item) return
    const { versions = [] } = (await read(keys, name)) ?? {}
    others = versions.filter((version) => !known.includes(version.text))
  }

  async function forget() {
    clearTimeout(timer)
    const keys = await findKeys()
    if (!keys) return
    const name = await nameOf(keys, field)
    const present = readSent(field)
    await takeOthers(keys, name, [present, text])
    others = others.filter((version) => version.text !== present)
    await write(keys, name, { path: location.pathname, label, versions: others })
    item = store.getItem(name)
    text = present
  }
}

// What was begun on this page in a form that it does not have, or does not have any more, to copy.
async function showLost() {
  const keys = await findKeys()
  if (!keys) return
  const shown = new Set(Array.from(document.querySelectorAll('textarea'), readSent))
  const found = await Promise.all(
    listItems()
      .filter(({ name }) => !names.has(name))
      .map(async ({ name }) => ({ name, ...(await read(keysOf(keys, name), name)) })),
  )
  const lost = found.filter(({ path }) => path === location.pathname)
  const texts = lost.flatMap(({ name, label, versions }) =>
    versions.filter(({ text }) => !shown.has(text)).map(({ text }) => ({ name, label, text })),
  )
  if (texts.length === 0) return
  const section = make('section', { class: 'stack', 'aria-labelledby': 'begun' })
  section.append(make('h2', { id: 'begun' }, 'What you began to write'))
  section.append(make('p', {}, 'It was not sent, and its form is not here. Copy it from here.'))
  texts.forEach(({ label, text }, i) => {
    const id = `begun-${i}`
    const area = make('textarea', { id, rows: 6, readonly: '' }, text)
    const row = make('div', { class: 'field' })
    row.append(make('label', { for: id }, label), area)
    section.append(row)
  })
  const discard = make('button', { type: 'button', class: 'small quiet' }, 'Discard')
  discard.addEventListener('click', () => {
    for (const { name } of texts) store.removeItem(name)
    section.remove()
  })
  section.append(discard)
  document.querySelector('main').append(section)
  for (const area of section.querySelectorAll('textarea'))
    area.dispatchEvent(new Event('copyable', { bubbles: true }))
}

function renderNote({ at }, [before, after], actions, label) {
  const note = make('p', { class: 'hint draft', role: 'status' })
  const time = new Date(at)
  const isToday = time.toDateString() === new Date().toDateString()
  const format = new Intl.DateTimeFormat(undefined, {
    timeStyle: 'short',
    ...(!isToday && { dateStyle: 'medium' }),
  })
  note.append(`${before} `, make('time', { datetime: time.toISOString() }, format.format(time)), `${after} `)
  for (const [name, run] of Object.entries(actions)) {
    const button = make('button', { type: 'button', class: 'small quiet' }, name)
    button.append(make('span', { class: 'visually-hidden' }, ` the draft of ${label}`))
    button.addEventListener('click', run)
    note.append(button, ' ')
  }
  return note
}

// The text as it is sent (public/mentions.js).
function readSent(field) {
  return field.toSent?.() ?? field.value
}

function labelOf(field) {
  return field.labels[0]?.firstChild?.textContent.trim() ?? field.name
}

function make(name, attributes, text = '') {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.textContent = text
  return element
}

// The items of this person, the newest first.
function listItems() {
  return Object.keys(store)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
    .map((name) => ({ name, value: store.getItem(name) }))
    .sort((a, b) => Number.parseInt(b.value) - Number.parseInt(a.value))
}

async function read(keys, name) {
  const [at, sealed] = store.getItem(name)?.split(' ') ?? []
  if (sealed === undefined) return undefined
  const bytes = toBytes(sealed)
  const options = { name: 'AES-GCM', iv: bytes.subarray(0, 12), additionalData: encode(`${name} ${at}`) }
  try {
    const text = await crypto.subtle.decrypt(options, keys.text, bytes.subarray(12))
    return JSON.parse(new TextDecoder().decode(text))
  } catch {
    // Altered, or under another APP_SECRET.
    store.removeItem(name)
    return undefined
  }
}

// Writes an item, or deletes one without versions. Where the browser has no room, it goes on without.
async function write(keys, name, { path, label, versions }) {
  if (versions.length === 0) return store.removeItem(name)
  const { at } = versions[0]
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const text = encode(JSON.stringify({ path, label, versions: versions.slice(0, versionsMax) }))
  const options = { name: 'AES-GCM', iv, additionalData: encode(`${name} ${at}`) }
  const sealed = new Uint8Array(await crypto.subtle.encrypt(options, keys.text, text))
  const value = `${at} ${toBase64([...iv, ...sealed])}`
  if (value.length > charactersMax) return
  makeRoom(name, value.length)
  try {
    store.setItem(name, value)
  } catch {
    // Full.
  }
}

// Deletes the oldest items, so that one more does not exceed the bounds.
function makeRoom(name, length) {
  let [count, characters] = [1, length]
  for (const other of listItems()) {
    if (other.name === name) continue
    count++
    characters += other.value.length
    if (count > itemsMax || characters > charactersMax) store.removeItem(other.name)
  }
}

let asked

// Undefined offline, and without a session of the person: asked for again then.
function findKeys() {
  asked ??= fetchKeys()
    .catch(() => undefined)
    .then((keys) => {
      if (!keys) asked = undefined
      return keys
    })
  return asked
}

async function fetchKeys() {
  const answer = await fetch('/settings/draft-keys', { headers: { accept: 'application/json' } })
  if (!answer.ok) return undefined
  const { former: others = [], ...first } = await answer.json()
  const [keys, ...former] = await Promise.all([first, ...others].map(importKeys))
  // Somebody else has signed in since this page was opened.
  if (keys.prefix !== prefixes[0]) return undefined
  return { ...keys, former }
}

async function importKeys({ tag, textKey, nameKey }) {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const [text, name] = await Promise.all([
    crypto.subtle.importKey('raw', toBytes(textKey), 'AES-GCM', false, ['encrypt', 'decrypt']),
    crypto.subtle.importKey('raw', toBytes(nameKey), hmac, false, ['sign']),
  ])
  return { prefix: `draft:${tag}:`, text, name }
}

// Those of an item: the present ones, or former ones.
function keysOf(keys, name) {
  return keys.former.find(({ prefix }) => name.startsWith(prefix)) ?? keys
}

// The name of the item of a field. What former keys have encrypted moves to it.
async function nameOf(keys, field) {
  const name = await nameUnder(keys, field)
  for (const former of keys.former) {
    const other = await nameUnder(former, field)
    const kept = store.getItem(other) !== null && (await read(former, other))
    if (kept && store.getItem(name) === null) {
      const was = await sign(former, field.defaultValue)
      const is = await sign(keys, field.defaultValue)
      const versions = kept.versions.map((version) =>
        version.former === was ? { ...version, former: is } : version,
      )
      await write(keys, name, { ...kept, versions })
    }
    store.removeItem(other)
  }
  return name
}

async function nameUnder(keys, { form, name }) {
  return keys.prefix + (await sign(keys, `${new URL(form.action).pathname} ${name}`))
}

async function sign({ name }, text) {
  return toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', name, encode(text))))
}

function encode(text) {
  return new TextEncoder().encode(text)
}

function toBytes(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

function toBase64(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
