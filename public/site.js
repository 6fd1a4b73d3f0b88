// Optional: every page works without this script.

// Times in the zone and language of the reader. The server writes them in UTC.
const formats = {
  date: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }),
  time: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
  clock: new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }),
  day: new Intl.DateTimeFormat(undefined, { dateStyle: 'full' }),
}
const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

function showLocalTimes(root) {
  for (const feed of root.querySelectorAll('[data-days]')) showLocalDays(feed)
  for (const time of root.querySelectorAll('time[data-format]')) showLocalTime(time)
}

function showLocalTime(time) {
  const at = new Date(time.dateTime)
  const exact = formats[time.dataset.format].format(at)
  const relative = time.dataset.format in ages ? ages[time.dataset.format](at) : undefined
  time.title ||= relative === undefined ? time.textContent : exact
  time.textContent = relative ?? exact
}

// How long ago a date or a time of the last week was.
const ages = { date: describeDays, time: describeAge }

function describeAge(at) {
  const minutes = Math.round((Date.now() - at) / 60_000)
  if (minutes < 0) return undefined
  if (minutes === 0) return relativeFormat.format(0, 'second')
  if (minutes < 60) return relativeFormat.format(-minutes, 'minute')
  return minutes < 24 * 60 ? relativeFormat.format(-Math.round(minutes / 60), 'hour') : describeDays(at)
}

// By the days of the reader. Rounded, since a day of a change of clocks has 23 or 25 hours.
function describeDays(at) {
  const startOfDay = (time) => new Date(time).setHours(0, 0, 0, 0)
  const days = Math.round((startOfDay(Date.now()) - startOfDay(at)) / 86_400_000)
  return at <= Date.now() && days < 7 ? relativeFormat.format(-days, 'day') : undefined
}

// Sorts the rows of a feed into the days of the reader.
function showLocalDays(feed) {
  const sample = feed.firstElementChild
  const days = new Map()
  for (const row of feed.querySelectorAll('li')) {
    const day = formats.day.format(new Date(row.querySelector('time').dateTime))
    days.set(day, [...(days.get(day) ?? []), row])
  }
  const sections = Array.from(days, ([day, rows]) => {
    const section = sample.cloneNode(true)
    section.querySelector('h2').textContent = day
    section.querySelector('ul').replaceChildren(...rows)
    return section
  })
  feed.replaceChildren(...sections)
}

// The number at the bell, when something has changed and when the person comes back to the page.
const bell = document.querySelector('.bell')

async function refreshBell() {
  try {
    const answer = await fetch(`${bell.pathname}/count`, { headers: { accept: 'application/json' } })
    if (answer.ok) showUnread((await answer.json()).unread)
  } catch {
    // The number of the page stays until the next time.
  }
}

function showUnread(unread) {
  const most = Number(bell.dataset.most)
  const number = unread > most ? `more than ${most}` : unread
  bell.setAttribute('aria-label', unread === 0 ? 'Notifications' : `Notifications, ${number} unread`)
  bell.querySelector('.count').textContent = unread === 0 ? '' : unread > most ? `${most}+` : unread
}

if (bell) {
  addEventListener('focus', refreshBell)
  // By public/live.js.
  document.addEventListener('activity', refreshBell)
  // Also of a page that the browser has kept and shows again.
  addEventListener('pageshow', ({ persisted }) => persisted && refreshBell())
}

// Notifications that led to this page are read once it is visible. A GET changes nothing: browsers fetch links ahead.
const opened = new URL(location.href)
const openedNotifications = opened.searchParams.get('notifications')
if (openedNotifications) {
  opened.searchParams.delete('notifications')
  history.replaceState(history.state, '', opened)
  const markRead = async () => {
    if (document.hidden) return
    document.removeEventListener('visibilitychange', markRead)
    const token = document.querySelector('input[name="_csrf"]')
    const body = new URLSearchParams({ ids: openedNotifications.replaceAll('.', ' '), _csrf: token.value })
    // The answer leads to a page, which nobody needs.
    await fetch('/notifications/read', { method: 'POST', body, redirect: 'manual' }).catch(() => undefined)
    refreshBell()
  }
  document.addEventListener('visibilitychange', markRead)
  markRead()
}

// A link to an item that this page of a thread does not show leads to the item's own page, if it still exists.
const [, itemKind, itemId] = /^#(comment|evidence)-([0-9a-f-]{36})$/.exec(location.hash) ?? []
if (itemKind && !document.querySelector(location.hash)) {
  const page =
    itemKind === 'comment'
      ? location.pathname.replace(/seeds\/.*/, `comments/${itemId}`)
      : `${location.pathname}/evidence/${itemId}`
  fetch(page, { method: 'HEAD' })
    .then(({ ok }) => ok && location.replace(page + location.hash))
    .catch(() => undefined)
}

// By public/live.js.
document.addEventListener('replaced', ({ target }) => showLocalTimes(target))

// Days to filter by are those of the reader, as the days of the list.
for (const input of document.querySelectorAll('input[data-zone]')) {
  input.value = Intl.DateTimeFormat().resolvedOptions().timeZone
  for (const name of input.form.querySelectorAll('[data-zone-name]')) name.textContent = 'your time zone'
  // Only days need it.
  input.form.addEventListener('formdata', ({ formData }) => {
    if (!formData.get('from') && !formData.get('to')) formData.delete('zone')
  })
}

// What a redirect left for this page is shown once, and is no part of its address. The page of a refused form, which has
// the status of the error, can be reloaded with it.
const address = new URL(location.href)
const [{ responseStatus } = {}] = performance.getEntriesByType('navigation')
if (address.searchParams.has('flash') && responseStatus < 400) {
  address.searchParams.delete('flash')
  history.replaceState(history.state, '', address)
}

showLocalTimes(document)
setInterval(() => {
  for (const time of document.querySelectorAll('time[data-format]')) showLocalTime(time)
}, 60_000)

// Menus close at Escape, and when the focus or a click goes elsewhere.
function closeMenus(except) {
  for (const menu of document.querySelectorAll('details.menu[open]')) if (menu !== except) menu.open = false
}
document.addEventListener('click', ({ target }) => closeMenus(target.closest('details.menu')))
document.addEventListener('focusin', ({ target }) => closeMenus(target.closest('details.menu')))
document.addEventListener('keydown', ({ key }) => {
  const menu = key === 'Escape' && document.querySelector('details.menu[open]')
  if (!menu) return
  menu.open = false
  menu.querySelector('summary').focus()
})

// The link to the search opens the command palette, as Ctrl+K does.
const find = document.querySelector('[data-palette]')
if (find) {
  const hint = find.querySelector('kbd')
  hint.textContent = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K'
  hint.hidden = false
  find.setAttribute('aria-haspopup', 'dialog')
  const toggle = async (event) => {
    event.preventDefault()
    try {
      const { togglePalette } = await import(find.dataset.palette)
      togglePalette({ resultsUrl: find.dataset.results, searchUrl: find.href })
    } catch {
      location.assign(find.href)
    }
  }
  find.addEventListener('click', (event) => {
    // As on any link, these open a new tab or window.
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) toggle(event)
  })
  document.addEventListener('keydown', (event) => {
    const isShortcut = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
    if (isShortcut && event.key.toLowerCase() === 'k') toggle(event)
  })
}

// A link to a form that is folded opens it.
document.addEventListener('click', ({ target }) => {
  const link = target.closest('a[href^="#"]')
  if (link) unfold(link.hash)
})
unfold(location.hash)

function unfold(hash) {
  const part = hash.length > 1 && document.getElementById(hash.slice(1))
  if (part?.localName !== 'details') return
  part.open = true
  // After the browser has gone there.
  setTimeout(() => part.querySelector('input:not([type=hidden]), textarea, select')?.focus())
}

// A key alone presses what has it, unless somebody writes or chooses, or has turned such keys off (WCAG 2.2, 2.1.4).
const keysName = 'keys-off'
const hasKeys = document.getElementById('has-keys')
if (hasKeys) {
  hasKeys.checked = !areKeysOff()
  hasKeys.addEventListener('change', () => {
    if (hasKeys.checked) localStorage.removeItem(keysName)
    else localStorage.setItem(keysName, 'yes')
  })
}
document.addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, metaKey, altKey, isComposing, repeat } = event
  if (ctrlKey || metaKey || altKey || isComposing || repeat || event.defaultPrevented || areKeysOff()) return
  if (target.closest('input, textarea, select, dialog, [popover]')) return
  // That of the page comes after that of the header.
  const pressed = [...document.querySelectorAll('[data-key]')].findLast(({ dataset }) => dataset.key === key)
  if (!pressed) return
  event.preventDefault()
  pressed.click()
})

function areKeysOff() {
  try {
    return localStorage.getItem(keysName) !== null
  } catch {
    // The browser keeps nothing.
    return false
  }
}

for (const box of document.querySelectorAll('[data-copy]')) offerCopy(box)
// Those of other scripts.
document.addEventListener('copyable', ({ target }) => offerCopy(target))

function offerCopy(box) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'small quiet'
  button.textContent = 'Copy'
  const status = document.createElement('span')
  status.className = 'visually-hidden'
  status.setAttribute('role', 'status')
  button.addEventListener('click', async () => {
    const text = box.value ?? box.textContent
    try {
      // With its mentions (public/mentions.js).
      if (!box.copyAll?.()) await navigator.clipboard.writeText(text)
      button.textContent = status.textContent = 'Copied'
    } catch {
      // The clipboard needs https and permission: select the text for copying by hand.
      box.select?.()
      button.textContent = status.textContent = 'Press Ctrl+C'
    }
    setTimeout(() => (button.textContent = 'Copy'), 3000)
  })
  box.after(button, status)
}

for (const input of document.querySelectorAll('[data-slug-check]')) {
  const note = document.getElementById(`${input.id}-error`)
  const source = input.dataset.slugFrom && document.getElementById(input.dataset.slugFrom)
  let timer
  let isTyped = input.value !== ''

  // Asks about the typed slug, or for one that suits the name.
  const ask = async (question) => {
    const answer = await fetch(`${input.dataset.slugCheck}?${new URLSearchParams(question)}`, {
      headers: { accept: 'application/json' },
    }).catch(() => undefined)
    return answer?.ok ? answer.json() : undefined
  }
  const show = ({ available }) => {
    note.textContent = available ? 'Available.' : 'This address is not available.'
    note.classList.toggle('good', available)
  }
  const check = async () => {
    const slug = input.value
    if (slug === '' || slug === input.defaultValue) {
      note.textContent = ''
      return
    }
    const answer = await ask({ slug })
    // If the value has changed meanwhile, another check has begun.
    if (answer && input.value === slug) show(answer)
  }
  const suggest = async () => {
    const name = source.value
    const answer = name.trim() === '' ? undefined : await ask({ name })
    if (isTyped || source.value !== name) return
    input.value = answer?.slug ?? ''
    if (answer) show(answer)
    else note.textContent = ''
  }
  const soon = (run) => {
    clearTimeout(timer)
    timer = setTimeout(run, 250)
  }
  input.addEventListener('input', () => {
    isTyped = input.value !== ''
    soon(check)
  })
  source?.addEventListener('input', () => {
    if (!isTyped) soon(suggest)
  })
}

// Filters act at once. What is empty is no part of the address.
for (const form of document.querySelectorAll('form[data-instant]')) {
  form.addEventListener('change', ({ target }) => target.matches('select') && form.requestSubmit())
  form.addEventListener('formdata', ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === '') formData.delete(name)
  })
}

// A choice that decides what the rest of the page shows.
for (const select of document.querySelectorAll('select[data-reload]'))
  select.addEventListener('change', () => {
    location.search = new URLSearchParams({ [select.name]: select.value })
  })

// Ctrl+Enter in a text of several lines sends its form.
document.addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, metaKey, isComposing } = event
  if (key !== 'Enter' || !(ctrlKey || metaKey) || isComposing || event.defaultPrevented) return
  if (target.localName === 'textarea') target.form?.requestSubmit()
})

// Texts that public/drafts.js keeps go when somebody else signs in, and after a week.
try {
  // Two while the secret of the installation is replaced.
  const tags = (document.body.dataset.drafts ?? '').split(' ')
  const weekAgo = Date.now() - 7 * 86_400_000
  const isKept = (name) =>
    tags.some((tag) => name.startsWith(`draft:${tag}`)) &&
    Number.parseInt(localStorage.getItem(name)) > weekAgo
  for (const name of Object.keys(localStorage))
    if (name.startsWith('draft:') && !isKept(name)) localStorage.removeItem(name)
} catch {
  // The browser keeps nothing.
}

// Leaving a page with a text that was begun asks first.
const sentForms = new WeakSet()
addEventListener('beforeunload', (event) => {
  const isBegun = (area) => (area.toSent?.() ?? area.value) !== area.defaultValue && !sentForms.has(area.form)
  if ([...document.querySelectorAll('form textarea')].some(isBegun)) event.preventDefault()
})

// A form is sent once. Its buttons work again when the person comes back, or when nothing has followed. Some scripts send
// forms themselves.
document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event
  if (form.method !== 'post' || event.defaultPrevented) return
  sentForms.add(form)
  // The browser reads the fields after this event: the value of a disabled button would be missing.
  setTimeout(() => {
    for (const button of form.querySelectorAll('button')) button.disabled = true
    submitter?.setAttribute('aria-busy', 'true')
  })
  setTimeout(() => release(form), 5_000)
})
addEventListener('pageshow', () => document.querySelectorAll('form').forEach(release))

function release(form) {
  sentForms.delete(form)
  for (const button of form.querySelectorAll('button')) {
    button.disabled = false
    button.removeAttribute('aria-busy')
  }
}

// The picture that was chosen, before it is uploaded.
for (const input of document.querySelectorAll('input[type="file"]')) {
  input.addEventListener('change', () => {
    const [file] = input.files
    const shown = input.closest('section')?.querySelector('.picture')
    if (!file?.type.startsWith('image/') || !shown) return
    const reader = new FileReader()
    reader.addEventListener('load', () => {
      const picture = new Image(shown.offsetWidth, shown.offsetHeight)
      picture.className = shown.className.replace('letter ', '')
      picture.alt = ''
      picture.src = reader.result
      shown.replaceWith(picture)
    })
    reader.readAsDataURL(file)
  })
}
