// Optional: every page works without this script.

// Times in the zone and language of the reader. The server writes them in UTC, which stays as the title.
const formats = {
  date: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }),
  time: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
  clock: new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }),
  day: new Intl.DateTimeFormat(undefined, { dateStyle: 'full' }),
}

function showLocalTimes(root) {
  for (const feed of root.querySelectorAll('[data-days]')) showLocalDays(feed)
  for (const time of root.querySelectorAll('time[data-format]')) {
    time.title = time.textContent
    time.textContent = formats[time.dataset.format].format(new Date(time.dateTime))
  }
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

// New activity appears while its page is visible, unless somebody is using the list.
for (const feed of document.querySelectorAll('[data-live]')) {
  const choice = document.getElementById('live')
  choice.parentElement.hidden = false
  let shown = feed.innerHTML
  setInterval(async () => {
    const isInUse = () => feed.contains(document.activeElement) || !getSelection().isCollapsed
    if (document.hidden || !choice.checked || isInUse()) return
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined)
    if (!answer?.ok) return
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const fresh = page.querySelector('[data-live]')
    if (!fresh || fresh.innerHTML === shown || isInUse()) return
    shown = fresh.innerHTML
    feed.replaceChildren(...fresh.childNodes)
    showLocalTimes(feed)
  }, 15_000)
}

showLocalTimes(document)

for (const box of document.querySelectorAll('[data-copy]')) {
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
      await navigator.clipboard.writeText(text)
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

  const check = async () => {
    const slug = input.value
    if (slug === '' || slug === input.defaultValue) {
      note.textContent = ''
      return
    }
    const answer = await fetch(`${input.dataset.slugCheck}?slug=${encodeURIComponent(slug)}`, {
      headers: { accept: 'application/json' },
    }).catch(() => undefined)
    // The value has changed meanwhile, which starts another check.
    if (!answer?.ok || input.value !== slug) return
    const { available } = await answer.json()
    note.textContent = available ? 'Available.' : 'This address is not available.'
    note.classList.toggle('good', available)
  }
  const checkSoon = () => {
    clearTimeout(timer)
    timer = setTimeout(check, 250)
  }
  input.addEventListener('input', () => {
    isTyped = input.value !== ''
    checkSoon()
  })
  source?.addEventListener('input', () => {
    if (isTyped) return
    input.value = source.value
      .normalize('NFKD')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter(Boolean)
      .join('-')
      .slice(0, 48)
    checkSoon()
  })
}
