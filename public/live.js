// Parts of a page that show new activity while the page is visible, unless somebody is using them
// (docs/design/events.md#live-pages). Optional. Runs before public/site.js, which changes what the server has sent.

const parts = Array.from(document.querySelectorAll('[data-live]'), (element) => ({
  element,
  shown: element.innerHTML,
  isPressed: false,
  // How many changes had been reported when the page was fetched that it shows.
  changes: 0,
}))
if (parts.length > 0) goLive()

function goLive() {
  let changes = 0
  let url = findUrl(document)
  let isFetching = false
  let hasEnded = false
  let retry
  let stream
  // Removes the bar that says what is new.
  let endTelling

  // Only the page of all activity has the choice.
  const choice = document.getElementById('live')
  const isWanted = () => !hasEnded && !document.hidden && choice?.checked !== false

  async function refresh() {
    if (isFetching || !isWanted() || !parts.some((part) => part.changes < changes && !isInUse(part))) return
    isFetching = true
    const replaced = url
    const reported = changes
    const { fresh, problem } = await fetchPage()
    isFetching = false
    if (problem) return end(problem)
    if (!fresh) {
      // One at a time, however many changes are reported meanwhile.
      clearTimeout(retry)
      retry = setTimeout(refresh, 5_000)
      return
    }
    // What another script has shown meanwhile may be newer.
    if (url === replaced && isWanted()) {
      url = findUrl(fresh) ?? url
      document.title = fresh.title
      for (const part of parts) {
        const now = findPart(fresh, part)
        if (!isInUse(part)) show(part, now, reported)
        else if (now) tell(findNew(part.element, now))
      }
    }
    // For what was reported meanwhile.
    refresh()
  }

  function show(part, fresh, reported) {
    part.changes = reported
    if (!fresh || fresh.innerHTML === part.shown) return
    const { element } = part
    part.shown = fresh.innerHTML
    const added = findNew(element, fresh)
    const place = findPlace(element)
    element.replaceChildren(...fresh.childNodes)
    element.dispatchEvent(new CustomEvent('replaced', { bubbles: true }))
    scrollBy(0, place())
    tell(added)
  }

  // Says what is new in a thread and out of sight, or waits until nobody uses it, and leads there.
  function tell(ids) {
    if (ids.length === 0) return
    endTelling?.()
    const isSeen = () => {
      const { top, bottom } = document.getElementById(ids[0])?.getBoundingClientRect() ?? {}
      return top < document.documentElement.clientHeight && bottom > 0
    }
    if (isSeen()) return
    const bar = document.createElement('div')
    bar.className = 'arrived'
    bar.setAttribute('role', 'status')
    document.body.append(bar)
    const button = document.createElement('button')
    button.type = 'button'
    button.textContent = describeNew(ids)
    // After the bar: screen readers read what comes into it.
    bar.append(button)
    const end = (endTelling = () => {
      document.removeEventListener('scroll', leaveWhenSeen)
      bar.remove()
    })
    const leaveWhenSeen = () => isSeen() && end()
    document.addEventListener('scroll', leaveWhenSeen, { passive: true })
    button.addEventListener('click', () => {
      // What was in use is shown as it is now.
      getSelection().empty()
      end()
      const go = () => document.getElementById(ids[0])?.scrollIntoView({ block: 'center' })
      if (document.getElementById(ids[0])) go()
      else document.addEventListener('replaced', () => setTimeout(go), { once: true })
      refresh()
    })
  }

  function refreshNow() {
    changes++
    refresh()
  }

  function follow() {
    if (isWanted()) stream ??= openStream()
    else {
      stream?.close()
      stream = undefined
    }
  }

  function openStream() {
    // It begins where the page was read. When it breaks, the browser goes on from the last change.
    const source = new EventSource(url)
    source.addEventListener('change', ({ lastEventId }) => {
      // Unless the page has it already.
      if (!url.endsWith(`after=${lastEventId}`)) refreshNow()
      document.dispatchEvent(new CustomEvent('activity'))
    })
    source.addEventListener('error', () => {
      // Unless it was refused, the browser opens it again.
      if (source.readyState !== EventSource.CLOSED) return
      stream = undefined
      refreshNow()
      setTimeout(follow, 15_000)
    })
    return source
  }

  // Says why the page no longer follows what happens. Nothing is asked for any more.
  function end(problem) {
    hasEnded = true
    follow()
    const bar = document.createElement('div')
    bar.className = 'alert ended'
    bar.setAttribute('role', 'alert')
    bar.append(...problem)
    document.getElementById('main').prepend(bar)
    bar.dispatchEvent(new CustomEvent('replaced', { bubbles: true }))
  }

  // Browsers open few connections to a site: a hidden page must not keep one.
  document.addEventListener('visibilitychange', follow)
  choice?.addEventListener('change', follow)
  // A part is in use until the focus and the selection have left it, and the pointer that was pressed in it is released or
  // has begun to drag.
  for (const part of parts) {
    part.element.addEventListener('focusout', () => setTimeout(refresh))
    part.element.addEventListener('pointerdown', ({ button }) => (part.isPressed = button === 0))
    // Another script has the part as the server has just sent it.
    part.element.addEventListener('fresh', ({ detail }) => {
      url = detail.dataset.live
      show(part, detail, changes)
    })
  }
  for (const released of ['pointerup', 'pointercancel'])
    document.addEventListener(released, () => {
      for (const part of parts) part.isPressed = false
      setTimeout(refresh)
    })
  document.addEventListener('selectionchange', refresh)
  follow()
}

function isInUse({ element, isPressed }) {
  const selection = getSelection()
  return (
    isPressed ||
    element.contains(document.activeElement) ||
    (!selection.isCollapsed && selection.containsNode(element, true)) ||
    // A text was begun, or refused.
    Array.from(element.querySelectorAll('textarea, input[type=text]')).some(({ value }) => value !== '')
  )
}

const itemNames = { comment: ['comment', 'comments'], evidence: ['piece of evidence', 'pieces of evidence'] }

// The ids of the comments and the evidence that a part gets.
function findNew(element, fresh) {
  const list = (root) =>
    Array.from(root.querySelectorAll('[id^="comment-"], [id^="evidence-"]'), ({ id }) => id)
  const known = new Set(list(element))
  return list(fresh).filter((id) => !known.has(id))
}

function describeNew(ids) {
  return Object.entries(itemNames)
    .map(([kind, [one, many]]) => [ids.filter((id) => id.startsWith(kind)).length, one, many])
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => `${count} new ${count === 1 ? one : many}`)
    .join(', ')
}

// Where the reader is: returns how far that has moved, once the part is replaced. It is the text that they write, or else
// the first item at which they look; nothing, when the part begins below.
function findPlace(element) {
  const topOf = (found) => found.getBoundingClientRect().top
  const isAfter = (other) => element.compareDocumentPosition(other) === other.DOCUMENT_POSITION_FOLLOWING
  const writing = document.activeElement
  if (writing.matches('textarea, input') && isAfter(writing)) {
    const before = topOf(writing)
    return () => topOf(writing) - before
  }
  const { top, bottom } = element.getBoundingClientRect()
  if (top >= 0) return () => 0
  if (bottom <= 0) return () => element.getBoundingClientRect().bottom - bottom
  const items = Array.from(element.querySelectorAll('[id]'), (item) => ({ id: item.id, top: topOf(item) }))
  const seen = [...items.filter((item) => item.top >= 0), ...items.filter((item) => item.top < 0).reverse()]
  return () => {
    const kept = seen.find(({ id }) => document.getElementById(id))
    return kept ? topOf(document.getElementById(kept.id)) - kept.top : 0
  }
}

// One part of a page has the URL of the stream, for all.
function findUrl(page) {
  return page.querySelector('[data-live]:not([data-live=""])')?.dataset.live
}

function findPart(page, { element }) {
  return element.id ? page.getElementById(element.id) : page.querySelector('[data-live]')
}

// The page as it is now; or what to say if there will be none; or neither if it can be fetched later.
async function fetchPage() {
  // What a redirect left was shown once (public/site.js).
  const address = new URL(location.href)
  address.searchParams.delete('flash')
  try {
    const answer = await fetch(address, { headers: { accept: 'text/html' } })
    if (new URL(answer.url).pathname === '/sign-in') return { problem: renderSignedOut() }
    if (![200, 403, 404].includes(answer.status)) return {}
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
    // An error page may also come from somewhere before the service.
    return answer.ok ? { fresh } : { problem: fresh.querySelector('[data-problem]')?.childNodes }
  } catch {
    return {}
  }
}

function renderSignedOut() {
  const link = document.createElement('a')
  link.href = `/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`
  link.textContent = 'Sign in'
  const text = document.createElement('p')
  text.append('You are signed out. ', link)
  return [text]
}
